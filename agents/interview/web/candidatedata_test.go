package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/web"
	"github.com/rehearse-dev/rehearse/clock"
)

var _ = Describe("The data of a candidate", func() {
	It("is exported as text and as JSON, as a file", func() {
		h := newHouse("lea")
		v := h.until(h.begin().View, at(session.Block1, 1))
		w := h.get("/s/" + v.SessionID + "/export?format=text")
		Expect(w.Header().Get("Content-Type")).To(HavePrefix("text/plain"))
		Expect(w.Header().Get("Content-Disposition")).To(ContainSubstring(`attachment; filename="interview.txt"`))
		Expect(w.Body.String()).To(And(ContainSubstring(h.persona.Answer(session.Block1, 0)), ContainSubstring("pas encore terminé")))
		w = h.get("/s/" + v.SessionID + "/export?format=json")
		var data struct {
			Schema    string
			Candidate string
			Messages  []session.Message
			Answers   []session.Answer
		}
		Expect(json.Unmarshal(w.Body.Bytes(), &data)).To(Succeed())
		stored, err := h.store.Messages(context.Background(), v.SessionID)
		Expect(err).NotTo(HaveOccurred())
		Expect(data.Messages).To(BeComparableTo(stored))
		Expect(data.Answers).NotTo(BeEmpty())
		Expect(data.Candidate).To(Equal(h.persona.Candidate))
		Expect(w.Body.String()).NotTo(ContainSubstring(v.SessionID))
		Expect(h.get("/s/" + v.SessionID + "/export?format=xml").Code).To(Equal(http.StatusBadRequest))
		Expect(h.get("/s/nobody/export?format=json").Code).To(Equal(http.StatusNotFound))
	})

	It("is deleted if the form confirms it, and the address then says so", func() {
		h := newHouse("lea")
		v := h.until(h.begin().View, at(session.Block1, 1))
		path := "/s/" + v.SessionID
		link, _ := h.offers(path)
		calls, err := h.store.Calls(context.Background(), v.SessionID)
		Expect(err).NotTo(HaveOccurred())
		w := h.form(path+"/delete", "confirm", "")
		Expect(w.Code).To(Equal(http.StatusBadRequest))
		Expect(w.Body.String()).To(ContainSubstring("Rien n&#39;a été supprimé"))
		Expect(h.as("", path).Code).To(Equal(http.StatusOK))

		w = h.form(path+"/delete", "confirm", "yes")
		Expect(w.Code).To(Equal(http.StatusSeeOther))
		Expect(cookieOf(w).MaxAge).To(Equal(-1))
		for _, gone := range []string{path, path + "/mine", path + "/export", link} {
			w := h.as("", gone)
			Expect(w.Code).To(Equal(http.StatusGone), gone)
			Expect(w.Body.String()).To(ContainSubstring("This interview was deleted"), gone)
		}
		Expect(h.form(path, "submissionId", "z", "replyTo", v.MessageID, "message", "too late").Code).To(Equal(http.StatusGone))
		Expect(h.form(path+"/delete", "confirm", "yes").Code).To(Equal(http.StatusGone))
		refused := h.next(v)
		Expect(refused.Status).To(Equal(http.StatusGone))
		Expect(refused.Error.Code).To(Equal("deleted_session"))
		Expect(h.store.DeletedTotals(context.Background())).To(Equal(session.Totals(calls)))
	})

	It("is not deleted by a link, nor by another site", func() {
		h := newHouse("lea")
		path, _ := h.beginOnPage("")
		Expect(h.as("", path+"/delete").Code).To(Equal(http.StatusMethodNotAllowed))
		r := httptest.NewRequest(http.MethodPost, path+"/delete", strings.NewReader("confirm=yes"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		Expect(h.do(r).Code).To(Equal(http.StatusForbidden))
		Expect(h.as("", path).Code).To(Equal(http.StatusOK))
	})

	It("is deleted by the server when it was not used for long", func() {
		swept := make(chan struct{}) // received from after each sweep
		h := newHouse("lea", func(o *web.Options, d *web.Deps) {
			o.Keep, d.Clock = 90*24*time.Hour, hourly{d.Clock, swept}
		})
		old, _ := h.beginOnPage("")
		Expect(h.clock.Sleep(context.Background(), 89*24*time.Hour)).To(Succeed())
		used, _ := h.beginOnPage("")
		h.listen()
		swept <- struct{}{}
		Expect(h.as("", old).Code).To(Equal(http.StatusOK))
		Expect(h.clock.Sleep(context.Background(), 25*time.Hour)).To(Succeed())
		swept <- struct{}{}
		swept <- struct{}{}
		Expect(h.as("", old).Code).To(Equal(http.StatusGone))
		Expect(h.as("", used).Code).To(Equal(http.StatusOK))
		Expect(h.log.String()).To(ContainSubstring("unused sessions deleted"))
		Expect(h.as("", "/privacy").Body.String()).To(ContainSubstring("not used for 90 days is deleted"))
	})
})

// hourly is a clock on which an hour passes when the channel is received from.
type hourly struct {
	clock.Clock
	passes chan struct{}
}

// Sleep implements clock.Clock.
func (h hourly) Sleep(ctx context.Context, d time.Duration) error {
	if d != time.Hour {
		return h.Clock.Sleep(ctx, d)
	}
	select {
	case <-h.passes:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var _ = Describe("The privacy page", func() {
	It("is there in each language, with the contact of the operator as text", func() {
		h := newHouse("lea", func(o *web.Options, _ *web.Deps) { o.Contact = "<b>dpo@example.org</b>" })
		Expect(h.as("", "/privacy").Body.String()).To(And(ContainSubstring("What is kept"), ContainSubstring("&lt;b&gt;dpo@example.org"),
			ContainSubstring("does not set an end"), ContainSubstring("for 30 days")))
		Expect(h.as("", "/privacy?language=fr").Body.String()).To(And(ContainSubstring(`lang="fr"`), ContainSubstring("Ce qui est conservé")))
		Expect(h.as("", "/privacy?language=xx").Code).To(Equal(http.StatusOK))
		Expect(h.as("", "/").Body.String()).To(ContainSubstring(`href="/privacy?language=en"`))
	})

	It("has the text of the operator instead", func() {
		h := newHouse("lea", func(o *web.Options, _ *web.Deps) {
			o.Privacy = map[session.Language]string{session.English: "# Our rules\n\nWe keep <i>all</i>."}
		})
		page := h.as("", "/privacy").Body.String()
		Expect(page).To(And(ContainSubstring("<h3>Our rules</h3>"), ContainSubstring("We keep &lt;i&gt;all"), Not(ContainSubstring("What is kept"))))
		Expect(h.as("", "/privacy?language=fr").Body.String()).To(ContainSubstring("Ce qui est conservé"))
	})
})
