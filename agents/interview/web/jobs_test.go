package web_test

import (
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
	"github.com/rehearse-dev/rehearse/agents/interview/web"
)

var _ = Describe("Several jobs", Label("I-02"), func() {
	job := func(id, title string, l session.Language) session.Job {
		return session.Job{ID: id, Language: l, Title: title, Mission: "M", Context: "C", Requirements: []string{"R"}}
	}
	var h *house
	BeforeEach(func() {
		jobs := []session.Job{job("nurse", "Infirmier de nuit", session.French), job("nurse", "Night nurse", session.English), job("buyer", "Acheteur <b>", session.French)}
		h = newHouse("lea", func(o *web.Options, d *web.Deps) {
			service, err := interview.New(interview.Options{}, interview.Deps{Store: d.Store, Clock: d.Clock, Backend: newModel("lea"), Jobs: jobs})
			Expect(err).NotTo(HaveOccurred())
			o.Jobs, d.Service = jobs, service
		})
	})

	It("are listed on the first page, each with its own page", func() {
		page := h.get("/").Body.String()
		Expect(page).To(And(
			ContainSubstring("Pour quel poste"), ContainSubstring(`href="/jobs/nurse" lang="fr">Infirmier de nuit</a>`),
			ContainSubstring(`href="/jobs/buyer" lang="fr">Acheteur &lt;b&gt;</a>`), Not(ContainSubstring("<form")),
		))
		page = h.get("/jobs/buyer").Body.String()
		Expect(page).To(And(
			ContainSubstring("Acheteur &lt;b&gt;"), ContainSubstring(`<form method="post" action="/jobs/buyer"`),
			ContainSubstring(`value="fr"`), Not(ContainSubstring(`value="en"`)), Not(ContainSubstring("Infirmier")),
		))
	})

	It("begin interviews that are about them", func(ctx SpecContext) {
		w := h.form("/jobs/nurse", "language", "en")
		Expect(w.Code).To(Equal(http.StatusSeeOther))
		all, err := h.store.List(ctx, session.Listing{})
		Expect(err).NotTo(HaveOccurred())
		Expect(all).To(HaveExactElements(HaveField("Job.Title", "Night nurse")))
		Expect(h.post(`{"event":"START","job":"buyer"}`).View.Language).To(Equal(session.French))
	})

	It("are named to programs that name none, or an unknown one", func() {
		for body, want := range map[string]string{
			`{"event":"START"}`:               `job: name one of ["nurse" "buyer"]`,
			`{"event":"START","job":"pilot"}`: `job: there is no "pilot"; there are nurse, buyer`,
		} {
			got := h.post(body)
			Expect(got.Status).To(Equal(http.StatusBadRequest))
			Expect(got.Error.Code).To(BeEquivalentTo("unknown_job"))
			Expect(got.Error.Message).To(Equal(want))
		}
	})

	It("have no page for an unknown one, and the list for a form without one", func() {
		w := h.get("/jobs/pilot")
		Expect(w.Code).To(Equal(http.StatusNotFound))
		Expect(w.Body.String()).To(ContainSubstring("Il n&#39;y a pas de poste à cette adresse"))
		w = h.form("/", "language", "fr")
		Expect(w.Code).To(Equal(http.StatusBadRequest))
		Expect(w.Body.String()).To(ContainSubstring(`href="/jobs/nurse"`))
	})

	It("are left to an invitation for one of them", func(ctx SpecContext) {
		now := h.clock.Now()
		for token, job := range map[string]string{"one": "buyer", "any": ""} {
			Expect(h.disk.Store.(*store.Store).Invite(ctx, session.Invitation{
				Hash: session.HashInvitation(token), Job: job, Uses: 2, Created: now, Expires: now.Add(time.Hour),
			})).To(Succeed())
		}
		for _, link := range []string{"/?invite=one", "/jobs/buyer?invite=one"} {
			Expect(h.get(link).Body.String()).To(And(ContainSubstring(`action="/jobs/buyer"`), ContainSubstring(`value="one"`)), link)
		}
		Expect(h.get("/?invite=any").Body.String()).To(ContainSubstring(`href="/jobs/nurse?invite=any"`), "the list keeps the invitation")
		begun := h.post(`{"event":"START","invitation":"one"}`)
		Expect(begun.Status).To(Equal(http.StatusOK))
		Expect(h.store.Load(ctx, begun.SessionID)).To(HaveField("Job.ID", "buyer"))
		w := h.form("/jobs/nurse", "language", "fr", "invitation", "one")
		Expect(w.Code).To(Equal(http.StatusForbidden))
		Expect(w.Body.String()).To(ContainSubstring("This invitation is for another job"))
		Expect(h.form("/", "language", "fr", "invitation", "one").Code).To(Equal(http.StatusSeeOther), "typed on the first page")
	})

	It("show no list if there is one", func() {
		page := newHouse("lea", func(o *web.Options, _ *web.Deps) { o.Jobs = []session.Job{job("sales", "Vente", session.French)} }).get("/").Body.String()
		Expect(page).To(And(ContainSubstring(`<form method="post" action="/"`), Not(ContainSubstring("Vente"))))
	})
})
