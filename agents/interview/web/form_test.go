package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/kind"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/web"
	"github.com/rehearse-dev/rehearse/llm"
)

// form sends a form as a browser does.
func (h *house) form(path string, fields ...string) *httptest.ResponseRecorder {
	values := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		values.Set(fields[i], fields[i+1])
	}
	return h.body(path, values.Encode())
}

func (h *house) body(path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Accept-Language", "en")
	return h.do(r)
}

var _ = Describe("The form of the page", func() {
	var (
		h     *house
		shown view
		path  string
	)
	BeforeEach(func() {
		h = newHouse("lea")
		shown = h.until(h.begin().View, at(session.Block1, 0))
		path = "/s/" + shown.SessionID
	})
	// last returns the last stored answer.
	last := func() string {
		GinkgoHelper()
		all, err := h.store.Answers(GinkgoT().Context(), shown.SessionID)
		Expect(err).NotTo(HaveOccurred())
		return all[len(all)-1].Text
	}

	It("leads back to the page by a redirect, so that a reload sends nothing", func() {
		w := h.form(path, "submissionId", "x", "replyTo", shown.MessageID, "message", "mon\r\nmot ")
		Expect(w.Code).To(Equal(http.StatusSeeOther))
		Expect(w.Header().Get("Location")).To(Equal(path))
		Expect(last()).To(Equal("mon\nmot"))
	})

	It("sends the choice with the added text", func() {
		h.form(path, "submissionId", "x", "replyTo", shown.MessageID, "choice", "B. deux", "message", "mais\r\npas seulement")
		Expect(last()).To(Equal("B. deux\n\nmais\npas seulement"))
	})

	It("submits a comment even if the button for no comment was pressed", func() {
		mirror := h.until(shown, func(v view) bool { return v.Kind == session.KindMirror })
		h.form(path, "submissionId", "x", "replyTo", mirror.MessageID, "event", "GO", "message", "si, ceci")
		Expect(last()).To(Equal("si, ceci"))
	})

	DescribeTable("returns text that it cannot store, and changes nothing",
		func(message string, status int, want string) {
			before := h.everything()
			w := h.form(path, "submissionId", "x", "replyTo", shown.MessageID, "message", message)
			Expect(w.Code).To(Equal(status))
			Expect(w.Body.String()).To(ContainSubstring(want))
			Expect(h.everything()).To(Equal(before))
			if text := strings.TrimSpace(message); text != "" {
				Expect(w.Body.String()).To(ContainSubstring(text + "</textarea>"))
			}
		},
		Entry("nothing", " ", 400, "pas encore de réponse"),
		Entry("too much", strings.Repeat("a", 70_000), 413, "trop longue"),
		Entry("a control character", "a\x07b", 400, "sans caractères spéciaux"),
	)

	DescribeTable("rejects a request that is not a form, and changes nothing",
		func(body string, status int, code string) {
			before := h.everything()
			Expect(h.body(path, body).Code).To(Equal(status))
			Expect(h.log.String()).To(ContainSubstring(`"code":"` + code + `"`))
			Expect(h.everything()).To(Equal(before))
		},
		Entry("10 MB", "message="+strings.Repeat("a", 10<<20), 413, "body_too_large"),
		Entry("not UTF-8", "submissionId=x&message=%ff", 400, "not_utf8"),
		Entry("a broken escape", "submissionId=x&message=%zz", 400, "invalid_body"),
		Entry("an unknown event", "submissionId=x&event=STOP", 400, "unknown_event"),
		Entry("a long id", "message=a&submissionId="+strings.Repeat("x", 1000), 400, "field_too_long"),
		Entry("another message", "submissionId=x&replyTo=m9&message=a", 409, "out_of_order"),
	)

	It("shows the unsaved text if the question was already answered", func() {
		h.form(path, "submissionId", "first", "replyTo", shown.MessageID, "message", "du premier onglet")
		before := h.everything()
		w := h.form(path, "submissionId", "second", "replyTo", shown.MessageID, "message", "du <second> onglet")
		Expect(w.Code).To(Equal(http.StatusConflict))
		Expect(w.Body.String()).To(ContainSubstring("avait déjà une réponse"))
		Expect(w.Body.String()).To(ContainSubstring("du &lt;second&gt; onglet"))
		Expect(h.everything()).To(Equal(before))

		w = h.form(path, "submissionId", "first", "replyTo", shown.MessageID, "message", "du premier onglet")
		Expect(w.Code).To(Equal(http.StatusSeeOther), "the same sent again is no surprise")
	})

	It("returns text that the store rejected", func() {
		h.disk.full.Store(true)
		w := h.form(path, "submissionId", "x", "replyTo", shown.MessageID, "message", "à renvoyer")
		Expect(w.Code).To(Equal(http.StatusServiceUnavailable))
		Expect(w.Body.String()).To(And(ContainSubstring("n&#39;a pas pu être enregistrée"), ContainSubstring("à renvoyer</textarea>")))
	})

	It("redirects to the page when the model failed, because the answer is stored", func() {
		h.model.failing(&llm.Error{Kind: llm.Unauthorized})
		v := h.until(shown, at(session.Block1, 2))
		w := h.form(path, "submissionId", "x", "replyTo", v.MessageID, "message", "gardé")
		Expect(w.Code).To(Equal(http.StatusSeeOther))
		Expect(last()).To(Equal("gardé"))
		Expect(h.get(path).Body.String()).To(ContainSubstring(`value="RETRY"`))
	})

	DescribeTable("is not there where there is no interview",
		func(path string) {
			Expect(h.get(path).Code).To(Equal(http.StatusNotFound))
			Expect(h.form(path, "submissionId", "x", "message", "a").Code).To(BeElementOf(http.StatusNotFound, http.StatusBadRequest))
		},
		Entry("of an unknown session", "/s/nobody"), Entry("that leaves the folder", "/s/..%2f..%2fetc%2fpasswd"),
		Entry("with a NUL", "/s/a%00b"), Entry("that is not UTF-8", "/s/%ff"), Entry("that is long", "/s/"+strings.Repeat("x", 10_000)),
	)

	It("is never cached by a browser or a proxy, nor shown within another site", func() {
		for _, w := range []*httptest.ResponseRecorder{h.get(path), h.form(path, "submissionId", "x", "message", "a")} {
			Expect(w.Header().Get("Cache-Control")).To(Equal("no-store"))
			Expect(w.Header().Get("Referrer-Policy")).To(Equal("no-referrer"))
			Expect(w.Header().Get("X-Content-Type-Options")).To(Equal("nosniff"))
			Expect(w.Header().Get("Content-Security-Policy")).To(And(
				HavePrefix("default-src 'none'; script-src 'self'; style-src 'self';"), ContainSubstring("frame-ancestors 'none'")))
			for _, cookie := range w.Header().Values("Set-Cookie") {
				Expect(cookie).To(HaveSuffix("; HttpOnly; SameSite=Lax"))
			}
		}
	})

	It("begins an interview in the language that was chosen", func() {
		w := h.form("/", "language", "en", "candidate", "tom.1")
		Expect(w.Code).To(Equal(http.StatusSeeOther))
		stored, err := h.store.Load(GinkgoT().Context(), strings.TrimPrefix(w.Header().Get("Location"), "/s/"))
		Expect(err).NotTo(HaveOccurred())
		Expect(stored.Language).To(Equal(session.English))
		Expect(stored.Candidate).To(Equal("tom.1"))
		Expect(h.get("/s/" + stored.ID).Body.String()).To(ContainSubstring(`<html lang="en">`))
	})

	It("begins an interview only in a language that is offered", func() {
		h := newHouse("lea", func(o *web.Options, _ *web.Deps) { o.Languages = []session.Language{session.English} })
		Expect(h.form("/", "language", "fr").Code).To(Equal(http.StatusBadRequest))
		a := h.say(map[string]any{"event": "START", "language": "fr"})
		Expect(a.Error.Code).To(Equal("invalid"))
		Expect(a.Error.Message).To(ContainSubstring(`["en"]`))
		Expect(h.everything()).To(BeEmpty())
		Expect(h.say(map[string]any{"event": "START"}).Language).To(Equal(session.English))

		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Language", "fr-FR")
		Expect(h.do(r).Body.String()).To(And(ContainSubstring(`value="en"`), Not(ContainSubstring(`value="fr"`)), ContainSubstring(`<html lang="en">`)))
	})

	It("cannot be sent by a page of another site", func() {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader("submissionId=x&message=a"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Accept", "text/html")
		before := h.everything()
		Expect(h.do(r).Code).To(Equal(http.StatusForbidden))
		Expect(h.everything()).To(Equal(before))
	})
})

var _ = Describe("The page after a crash", func() {
	// dead is the page of an interview whose call died with its server.
	dead := func(instance string) (*house, string) {
		h := newHouse("lea", func(o *web.Options, _ *web.Deps) { o.Instance = instance })
		v := h.until(h.begin().View, at(session.Block1, 2))
		h.model.set(func(context.Context, llm.Request) error { h.disk.full.Store(true); return nil })
		path := "/s/" + v.SessionID
		w := h.form(path, "submissionId", "x", "replyTo", v.MessageID, "message", "gardé")
		Expect(w.Code).To(Equal(http.StatusServiceUnavailable))
		Expect(w.Body.String()).To(And(ContainSubstring("est enregistré"), Not(ContainSubstring("n&#39;a pas pu être enregistrée"))))
		h.disk.full.Store(false)
		h.model.failing(nil)
		return h, path
	}

	It("goes on with the call at once where the same server has started again", func() {
		h, path := dead("one")
		Expect(h.get(path).Body.String()).To(And(ContainSubstring("data-auto"), ContainSubstring(`value="RETRY"`)))
		Expect(h.form(path, "event", "RETRY").Code).To(Equal(http.StatusSeeOther))
		Expect(h.get(path).Body.String()).To(ContainSubstring("Ce que j&#39;ai compris"))
	})

	It("waits until the claim of another server has ended", func(ctx context.Context) {
		h, path := dead("two")
		Expect(h.get(path).Body.String()).To(ContainSubstring(`data-mode="thinking"`))
		Expect(h.clock.Sleep(ctx, 5*time.Minute)).To(Succeed())
		Expect(h.get(path).Body.String()).To(ContainSubstring("data-auto"))
	})
})

var _ = DescribeTable("The form alone takes everybody of the cast to the end", func(name string) {
	h := newHouse(name)
	w := h.form("/", "language", string(h.persona.Language), "candidate", h.persona.Candidate)
	path := w.Header().Get("Location")
	v := view{SessionID: strings.TrimPrefix(path, "/s/")}
	for range 60 {
		v = h.say(map[string]any{"sessionId": v.SessionID, "event": "RESUME"}).View
		if v.Finished {
			break
		}
		shown := h.get(path).Body.String()
		Expect(shown).To(ContainSubstring(`<html lang="` + string(h.persona.Language) + `">`))
		Expect(shown).To(ContainSubstring(`name="replyTo" value="` + v.MessageID + `"`))
		fields := []string{"submissionId", "of " + v.MessageID, "replyTo", v.MessageID, "message", h.reply(v)}
		if h.reply(v) == "" {
			fields = append(fields, "event", "GO")
		}
		Expect(h.form(path, fields...).Code).To(Equal(http.StatusSeeOther), string(v.Step))
	}
	Expect(h.get(path).Body.String()).To(ContainSubstring(`data-mode="finished"`))
	Expect(h.model.made()).To(Equal(24))
}, func() []TableEntry {
	var all []TableEntry
	for _, name := range kind.Personas() {
		if p, err := kind.LoadPersona(name); err == nil && p.SharedReplies {
			continue // its replies depend on the request
		}
		all = append(all, Entry(name, name))
	}
	return all
}())
