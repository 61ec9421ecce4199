package web_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/browser"
	"github.com/rehearse-dev/rehearse/llm"
)

var _ = Describe("The page in a browser", Ordered, ContinueOnFailure, func() {
	var chrome context.Context
	BeforeAll(func() { chrome = browser.Start() })

	// visit opens the page of an interview that has come to a message.
	visit := func(h *house, there func(view) bool) (*tab, view) {
		GinkgoHelper()
		s := h.listen()
		v := h.until(h.begin().View, there)
		t := newTab(chrome, s.base)
		t.Open("/s/" + v.SessionID)
		return t, v
	}
	answers := func(h *house, v view) []session.Answer {
		GinkgoHelper()
		all, err := h.store.Answers(context.Background(), v.SessionID)
		Expect(err).NotTo(HaveOccurred())
		return all
	}

	It("takes a person through a whole interview by keyboard alone", func() {
		h := newHouse("lea")
		s := h.listen()
		t := newTab(chrome, s.base)
		t.Open("/")
		t.tabTo("input[name=language]")
		t.tabTo("#candidate")
		t.Write(h.persona.Candidate)
		t.Press(kb.Enter)
		t.Waits(`location.pathname.startsWith("/s/")`)
		path := browser.Value[string](t.Tab, "location.pathname")
		id := strings.TrimPrefix(path, "/s/")

		for range 60 {
			v := h.say(map[string]any{"sessionId": id, "event": "RESUME"}).View
			if v.Finished {
				break
			}
			before := fmt.Sprintf(`document.querySelector("input[name=replyTo]")?.value === %q`, v.MessageID)
			t.Waits(before)
			Expect(t.Is(`document.activeElement.id === "focus"`)).To(BeTrue(),
				"the focus is where reading goes on")
			switch reply := h.reply(v); {
			case v.Step == session.Tone:
				t.tabTo("input[name=choice]")
				t.Press(" ")
				t.tabTo("button")
				t.Press(kb.Enter)
			case reply != "":
				t.tabTo("textarea")
				t.Write(reply)
				t.Press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
			default:
				t.tabTo("button[value=GO]")
				t.Press(kb.Enter)
			}
			t.Waits("!(" + before + ")")
		}
		t.Waits(`document.querySelector("main[data-mode=finished]")`)
		t.sees("main", "🟢 ALIGNÉ")
		t.sees(".portrait", "Ce qui te met vraiment en mouvement")
		Expect(t.Text("#place")).To(Equal("Entretien terminé"))
		Expect(t.Heard()).To(BeEmpty())
		Expect(h.model.made()).To(Equal(24))
		for _, a := range answers(h, view{SessionID: id}) {
			switch {
			case a.Step == session.Tone:
				Expect(a.Text).To(HavePrefix("A. "))
			case a.Index != session.Reflection:
				Expect(a.Text).To(Equal(h.persona.Answer(a.Step, a.Index)))
			}
		}
		for width, scheme := range map[int64]string{320: "light", 800: "dark", 1280: "light"} {
			t.Shoot("finished", width, scheme)
		}
	})

	It("works without scripts", func() {
		h := newHouse("lea")
		s := h.listen()
		t := newTab(chrome, s.base)
		t.NoScript()
		t.Open("/")
		t.tabTo("button")
		t.Press(kb.Enter)
		t.sees("h1", "Bienvenue")
		Expect(t.Text("main")).NotTo(ContainSubstring("Ctrl"), "what needs a script is not offered")
		t.tabTo("textarea")
		t.Write("Léa Vasseur")
		t.tabTo("button")
		t.Press(kb.Enter)
		t.sees("main", "On se tutoie")
		t.tabTo("input[name=choice]")
		t.Press(" ")
		t.tabTo("button")
		t.Press(kb.Enter)
		t.sees("h1", "Avant de commencer")
		t.tabTo("button[value=GO]")
		t.Press(kb.Enter)
		t.sees("#place", "Question 1 sur 3")
		t.Do(chromedp.Reload())
		t.sees("#place", "Question 1 sur 3")
		Expect(h.model.made()).To(Equal(2))
		Expect(t.Heard()).To(BeEmpty())
	})

	It("stores one answer of a double click", func() {
		h := newHouse("lea")
		t, v := visit(h, at(session.Block1, 0))
		t.Do(chromedp.SetValue("textarea", "une seule fois"))
		before := len(answers(h, v))
		t.Do(chromedp.DoubleClick("button.primary"))
		t.sees("#place", "Question 2 sur 3")
		Expect(answers(h, v)).To(HaveLen(before + 1))
		Expect(h.say(map[string]any{"sessionId": v.SessionID, "event": "RESUME"}).QuestionIndex).To(Equal(1))
	})

	It("stores one answer of a double click without scripts", func() {
		h := newHouse("lea")
		t, v := visit(h, at(session.Block1, 0))
		t.NoScript()
		t.Do(chromedp.Reload(), chromedp.SetValue("textarea", "une seule fois"))
		before := len(answers(h, v))
		t.Do(chromedp.DoubleClick("button.primary"))
		t.sees("#place", "Question 2 sur 3")
		Expect(answers(h, v)).To(HaveLen(before + 1))
	})

	It("shows markup in answers and in texts of the model as text, and runs none of it", func() {
		h := newHouse("lea")
		const attack = `<script>window.hacked=1</script><img src=x onerror="window.hacked=2"></textarea>` +
			`<a href="javascript:window.hacked=3">a</a>{{.}}&lt;b&gt;` + "\u2028"
		h.model.texts["questions BLOC_01"] = attack + " ?\n---QUESTION_SEPARATOR---\nB<img src=x onerror=window.hacked=4> ?\nA. <b onmouseover=window.hacked=5>a</b>\nB. \"><script>window.hacked=6</script>\n---QUESTION_SEPARATOR---\nC ?"
		t, v := visit(h, at(session.Block1, 0))
		t.sees("#focus", `<img src=x onerror="window.hacked=2">`)
		t.tabTo("textarea")
		t.Write(attack)
		t.Press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		t.sees("#focus", `B<img src=x onerror=window.hacked=4> ?`)
		Expect(t.Text(".option")).To(ContainSubstring("<b onmouseover"))
		t.Do(chromedp.Click("summary"))
		t.sees(".history", `<script>window.hacked=1</script><img src=x onerror="window.hacked=2"></textarea>`)
		t.tabTo("input[name=choice]")
		t.Press(kb.ArrowDown)
		t.tabTo("button")
		t.Press(kb.Enter)
		t.sees("#place", "Question 3 sur 3")
		Expect(t.Is("window.hacked")).To(BeFalse())
		Expect(t.Is(`document.querySelector("main img, main script, main a, main b")`)).To(BeFalse())
		stored := answers(h, v)
		Expect(stored[len(stored)-2].Text).To(Equal(strings.TrimSpace(attack)))
		Expect(stored[len(stored)-1].Text).To(Equal(`B. "><script>window.hacked=6</script>`))
		Expect(t.Heard()).To(BeEmpty(), "not even a violation of the policy")
	})

	It("continues at the same place after a reload, with the unfinished text", func() {
		h := newHouse("lea")
		t, v := visit(h, at(session.Block1, 1))
		calls := h.model.made()
		t.tabTo("textarea")
		t.Write("à moitié écr")
		t.Do(chromedp.Reload())
		t.sees("#place", "Question 2 sur 3")
		t.Waits(`document.querySelector("textarea").value === "à moitié écr"`)
		t.tabTo("textarea")
		t.Press(kb.End, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		t.Write("it")
		t.Press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		t.sees("#place", "Question 3 sur 3")
		stored := answers(h, v)
		Expect(stored[len(stored)-1].Text).To(Equal("à moitié écrit"))
		Expect(h.model.made()).To(Equal(calls))
		Expect(t.Is(`sessionStorage.length === 0`)).To(BeTrue(), "what was sent is not kept in the browser")
	})

	It("returns even a text that is far too long", func() {
		h := newHouse("lea")
		t, v := visit(h, at(session.Block1, 1))
		before := len(answers(h, v))
		t.tabTo("textarea")
		t.Write(strings.Repeat("mot ", 100_000))
		t.Press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		t.sees("[role=alert]", "trop longue")
		Expect(t.Is(`document.querySelector("textarea").value.length === 400000`)).To(BeTrue())
		Expect(answers(h, v)).To(HaveLen(before))
	})

	It("shows that it is thinking and disables the form", func() {
		h := newHouse("lea")
		t, _ := visit(h, at(session.Block1, 2))
		gate := make(chan struct{})
		h.model.set(func(context.Context, llm.Request) error { <-gate; return nil })
		t.sees("main", "Ctrl + Entrée envoie aussi.")
		t.tabTo("textarea")
		t.Write("une réponse")
		t.Press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		t.sees("[role=status]", "Je lis ta réponse")
		Expect(t.Is(`document.querySelector("button.primary").disabled`)).To(BeTrue())
		const moves = `getComputedStyle(document.getElementById("status"), "::before").animationName`
		Expect(t.Is(moves + ` === "breathe"`)).To(BeTrue())
		t.Scheme("light")
		Expect(t.Is(moves+` === "none"`)).To(BeTrue(), "those who ask for stillness get it")
		t.Shoot("thinking", 800, "light")
		close(gate)
		t.sees("h1", "Ce que j'ai compris")
		Expect(t.Text("[role=status]")).To(BeEmpty())
		Expect(t.Is(`document.activeElement.id === "focus"`)).To(BeTrue())
		t.Shoot("mirror", 320, "light")
		t.Shoot("mirror", 1280, "dark")
	})

	It("shows to a second window that the first one is being answered", func() {
		h := newHouse("lea")
		first, v := visit(h, at(session.Block1, 2))
		gate := make(chan struct{})
		calling := make(chan struct{})
		h.model.set(func(context.Context, llm.Request) error { close(calling); <-gate; return nil })
		first.tabTo("textarea")
		first.Write("une réponse")
		first.Press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		Eventually(calling).WithTimeout(browser.Patience).Should(BeClosed())
		second := newTab(chrome, browser.Value[string](first.Tab, "location.origin"))
		second.Open("/s/" + v.SessionID)
		second.Waits(`document.querySelector("main[data-mode=thinking]")`)
		Expect(second.Is(`document.querySelector("form")`)).To(BeFalse())
		close(gate)
		second.sees("h1", "Ce que j'ai compris")
	})

	It("reports a failed model and tries again", func() {
		h := newHouse("lea")
		t, v := visit(h, at(session.Block1, 2))
		h.model.failing(&llm.Error{Kind: llm.Unauthorized})
		t.tabTo("textarea")
		t.Write("une réponse")
		t.Press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		t.sees("[role=alert]", "Ta réponse est enregistrée")
		stored := answers(h, v)
		Expect(stored[len(stored)-1].Text).To(Equal("une réponse"))
		t.Shoot("failed", 320, "light")
		t.Shoot("failed", 800, "dark")
		h.model.failing(nil)
		t.tabTo("button[value=RETRY]")
		t.Press(kb.Enter)
		t.sees("h1", "Ce que j'ai compris")
		Expect(answers(h, v)).To(HaveLen(len(stored)))
	})

	It("repeats a call that was lost with the server", func() {
		h := newHouse("lea")
		s := h.listen()
		v := h.until(h.begin().View, at(session.Block1, 2))
		h.model.set(func(context.Context, llm.Request) error { h.disk.full.Store(true); return nil })
		Expect(h.next(v).Error.Code).To(Equal("store_failed"))
		h.disk.full.Store(false)
		h.model.failing(nil)
		t := newTab(chrome, s.base)
		t.Open("/s/" + v.SessionID)
		t.sees("h1", "Ce que j'ai compris")
		Expect(t.Heard()).To(BeEmpty())
	})

	It("keeps the text while the server is down and sends it once afterwards", func() {
		h := newHouse("lea")
		t, v := visit(h, at(session.Block1, 0))
		t.Do(offline(true))
		t.tabTo("textarea")
		t.Write("écrit dans le train")
		t.Press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		t.sees("[role=status]", "Le serveur ne répond pas")
		Expect(t.Is(`document.querySelector("textarea").value === "écrit dans le train"`)).To(BeTrue())
		Expect(t.Is(`document.querySelector("button.primary").disabled || document.querySelector("textarea").readOnly`)).To(BeFalse())
		t.Do(offline(false))
		t.Press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		t.sees("#place", "Question 2 sur 3")
		stored := answers(h, v)
		Expect(stored[len(stored)-1].Text).To(Equal("écrit dans le train"))
	})

	DescribeTable("fits every window and passes its own accessibility rules",
		func(name string, there func(view) bool) {
			h := newHouse("lea")
			t, _ := visit(h, there)
			for width, scheme := range map[int64]string{320: "light", 800: "dark", 1280: "light"} {
				t.Shoot(name, width, scheme)
			}
			Expect(t.Heard()).To(BeEmpty())
			Expect(t.Is(`document.querySelectorAll("h1").length === 1 && document.querySelectorAll("main").length === 1`)).To(BeTrue())
			Expect(t.Is(`[...document.querySelectorAll("input:not([type=hidden]), textarea")].every((e) => e.labels.length === 1)`)).To(BeTrue())
			Expect(t.Is(`document.documentElement.lang === "fr"`)).To(BeTrue())
		},
		Entry("identity", "identity", func(v view) bool { return v.Step == session.Identity }),
		Entry("tone", "tone", func(v view) bool { return v.Step == session.Tone }),
		Entry("preamble", "preamble", func(v view) bool { return v.Step == session.Preamble }),
		Entry("choices", "choices", at(session.Block2B, 0)),
		Entry("open", "open", at(session.Block2B, 1)),
		Entry("profile", "profile", func(v view) bool { return v.Step == session.Block10 }),
	)

	It("begins in the language of the browser and reports an invalid identifier", func() {
		h := newHouse("lea")
		s := h.listen()
		t := newTab(chrome, s.base)
		t.Do(language("en-GB,en"))
		t.Open("/")
		t.sees("h1", "One question at a time")
		for width, scheme := range map[int64]string{320: "light", 800: "dark", 1280: "light"} {
			t.Shoot("start", width, scheme)
		}
		t.Do(chromedp.SetAttributeValue("#candidate", "pattern", ".*"))
		t.tabTo("#candidate")
		t.Write("../../etc/passwd")
		t.Press(kb.Enter)
		t.sees("[role=alert]", "letters, digits")
		Expect(t.Is(`document.querySelector("#candidate").value === "../../etc/passwd"`)).To(BeTrue())
		all, err := h.store.List(context.Background(), session.Listing{})
		Expect(err).NotTo(HaveOccurred())
		Expect(all).To(BeEmpty())
		t.Open("/s/nobody")
		t.sees("h1", "There is nothing here")
		t.Open("/nowhere")
		t.sees("h1", "There is nothing here")
	})
})
