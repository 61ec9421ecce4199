package web_test

import (
	"context"
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/browser"
)

var _ = Describe("An interview that is continued later", Ordered, ContinueOnFailure, func() {
	var chrome context.Context
	BeforeAll(func() { chrome = browser.Start() })

	shoot := func(t *tab, name string) {
		GinkgoHelper()
		for _, width := range []int64{320, 390, 1280} {
			t.Shoot(name, width, "light")
			t.Shoot(name, width, "dark")
		}
		Expect(t.Is(`document.querySelectorAll("h1").length === 1 && document.querySelectorAll("main").length === 1`)).To(BeTrue())
		Expect(t.Is(`[...document.querySelectorAll("input:not([type=hidden]), textarea")].every((e) => e.labels.length === 1)`)).To(BeTrue())
	}

	It("is offered by the start page after the tab was closed, and can be forgotten", func() {
		h := newHouse("lea")
		s := h.listen()
		t := newTab(chrome, s.base)
		t.Open("/")
		t.tabTo("button.primary")
		t.Press(kb.Enter)
		t.Waits(`location.pathname.startsWith("/s/")`)
		path := browser.Value[string](t.Tab, "location.pathname")
		Expect(t.Is(`document.cookie === ""`)).To(BeTrue(), "scripts do not see the cookie")
		t.Open("/")
		t.sees("main", "Reprendre mon entretien")
		shoot(t, "ongoing")
		t.tabTo("a.primary")
		t.Press(kb.Enter)
		t.Waits(`location.pathname === %q`, path)
		t.Open("/")
		t.tabTo("button.quiet")
		t.Press(kb.Enter)
		t.Waits(`!document.querySelector("#ongoing") && document.querySelector("main.start")`)
		Expect(t.Heard()).To(BeEmpty())
	})

	It("continues on another device by the link, and the first one is told what was not saved", func() {
		h := newHouse("lea")
		s := h.listen()
		v := h.until(h.begin().View, at(session.Block1, 0))
		first, second := newTab(chrome, s.base), newTab(chrome, s.base)
		first.Open("/s/" + v.SessionID)
		first.sees("#place", "Question 1 sur 3")

		second.Open("/s/" + v.SessionID + "/mine")
		letter := browser.Value[string](second.Tab, `document.querySelector("#letter").value`)
		_, link, found := strings.Cut(letter, s.base)
		Expect(found).To(BeTrue(), letter)
		shoot(second, "mine")
		second.Open(strings.Fields(link)[0])
		second.sees("#place", "Question 1 sur 3")
		second.tabTo("textarea")
		second.Write("depuis le téléphone")
		second.Press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		second.sees("#place", "Question 2 sur 3")
		second.Open("/")
		second.sees("main", "Reprendre mon entretien")

		first.tabTo("textarea")
		first.Write("depuis l'ordinateur")
		first.Press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		first.sees("[role=alert]", "n'a pas été enregistré")
		first.sees("[role=alert]", "depuis l'ordinateur")
		first.sees("#place", "Question 2 sur 3")
		stored, err := h.store.Answers(context.Background(), v.SessionID)
		Expect(err).NotTo(HaveOccurred())
		Expect(stored[len(stored)-1].Text).To(Equal("depuis le téléphone"))
		Expect(append(first.Heard(), second.Heard()...)).To(HaveEach(ContainSubstring("409")))
	})

	It("continues with the code, and is deleted, without scripts", func() {
		h := newHouse("lea")
		s := h.listen()
		v := h.until(h.begin().View, at(session.Block1, 1))
		_, code := h.offers("/s/" + v.SessionID)
		t := newTab(chrome, s.base)
		t.NoScript()
		t.Open("/")
		t.tabTo("a[href='/resume']")
		t.Press(kb.Enter)
		t.sees("h1", "Reprendre avec un code")
		shoot(t, "resume")
		t.tabTo("#candidate")
		t.Write(h.persona.Candidate)
		t.tabTo("#code")
		t.Write("k7qm 9txr 4bwd")
		t.Press(kb.Enter)
		t.sees("[role=alert]", "ne vont pas ensemble")
		Expect(t.Is(`document.querySelector("#candidate").value === %q`, h.persona.Candidate)).To(BeTrue())
		t.tabTo("#code")
		t.Write(strings.ToLower(code))
		t.Press(kb.Enter)
		t.sees("#place", "Question 2 sur 3")

		t.tabTo("a[href$='/mine']")
		t.Press(kb.Enter)
		t.sees("h1", "Plus tard")
		Expect(t.Is(`document.querySelector("[data-copy]").hidden`)).To(BeTrue(), "what needs a script is not offered")
		t.tabTo("button.danger")
		t.Press(kb.Enter)
		Expect(t.Is(`location.pathname.endsWith("/mine")`)).To(BeTrue(), "the browser asks for the box")
		t.tabTo("input[name=confirm]")
		t.Press(" ")
		t.tabTo("button.danger")
		t.Press(kb.Enter)
		t.sees("h1", "Cet entretien a été supprimé")
		shoot(t, "deleted")
		t.Open("/")
		Expect(t.Is(`document.querySelector("#ongoing")`)).To(BeFalse())
		t.Open("/privacy")
		t.sees("h1", "Vie privée")
		shoot(t, "privacy")
		all, err := h.store.List(context.Background(), session.Listing{})
		Expect(err).NotTo(HaveOccurred())
		Expect(all).To(BeEmpty())
	})
})
