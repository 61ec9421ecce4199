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
		t.open("/s/" + v.SessionID)
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
		t.open("/")
		t.tabTo("input[name=language]")
		t.tabTo("#candidate")
		t.write(h.persona.Candidate)
		t.press(kb.Enter)
		t.waits(`location.pathname.startsWith("/s/")`)
		path, err := value[string](t, "location.pathname")
		Expect(err).NotTo(HaveOccurred())
		id := strings.TrimPrefix(path, "/s/")

		for range 60 {
			v := h.say(map[string]any{"sessionId": id, "event": "RESUME"}).View
			if v.Finished {
				break
			}
			before := fmt.Sprintf(`document.querySelector("input[name=replyTo]")?.value === %q`, v.MessageID)
			t.waits(before)
			Expect(t.is(`document.activeElement.id === "focus"`)).To(BeTrue(),
				"the focus is where reading goes on")
			switch reply := h.reply(v); {
			case v.Step == session.Tone:
				t.tabTo("input[name=choice]")
				t.press(" ")
				t.tabTo("button")
				t.press(kb.Enter)
			case reply != "":
				t.tabTo("textarea")
				t.write(reply)
				t.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
			default:
				t.tabTo("button[value=GO]")
				t.press(kb.Enter)
			}
			t.waits("!(" + before + ")")
		}
		t.waits(`document.querySelector("main[data-mode=finished]")`)
		t.sees("main", "🟢 ALIGNÉ")
		t.sees(".portrait", "Ce qui te met vraiment en mouvement")
		Expect(t.text("#place")).To(Equal("Entretien terminé"))
		Expect(t.heard()).To(BeEmpty())
		Expect(h.model.made()).To(Equal(24))
		for _, a := range answers(h, view{SessionID: id}) {
			switch {
			case a.Step == session.Tone:
				Expect(a.Text).To(HavePrefix("A. "))
			case a.Index != session.Reflection:
				Expect(a.Text).To(Equal(h.persona.Answer(a.Step, a.Index)))
			}
		}
		for _, width := range []int64{320, 800, 1280} {
			t.shoot("finished", width, width == 800)
		}
	})

	It("works without scripts", func() {
		h := newHouse("lea")
		s := h.listen()
		t := newTab(chrome, s.base)
		t.noScript()
		t.open("/")
		t.tabTo("button")
		t.press(kb.Enter)
		t.sees("h1", "Bienvenue")
		Expect(t.text("main")).NotTo(ContainSubstring("Ctrl"), "what needs a script is not offered")
		t.tabTo("textarea")
		t.write("Léa Vasseur")
		t.tabTo("button")
		t.press(kb.Enter)
		t.sees("main", "On se tutoie")
		t.tabTo("input[name=choice]")
		t.press(" ")
		t.tabTo("button")
		t.press(kb.Enter)
		t.sees("h1", "Avant de commencer")
		t.tabTo("button[value=GO]")
		t.press(kb.Enter)
		t.sees("#place", "Question 1 sur 3")
		t.do(chromedp.Reload())
		t.sees("#place", "Question 1 sur 3")
		Expect(h.model.made()).To(Equal(2))
		Expect(t.heard()).To(BeEmpty())
	})

	It("stores one answer of a double click", func() {
		h := newHouse("lea")
		t, v := visit(h, at(session.Block1, 0))
		t.do(chromedp.SetValue("textarea", "une seule fois"))
		before := len(answers(h, v))
		t.do(chromedp.DoubleClick("button.primary"))
		t.sees("#place", "Question 2 sur 3")
		Expect(answers(h, v)).To(HaveLen(before + 1))
		Expect(h.say(map[string]any{"sessionId": v.SessionID, "event": "RESUME"}).QuestionIndex).To(Equal(1))
	})

	It("stores one answer of a double click without scripts", func() {
		h := newHouse("lea")
		t, v := visit(h, at(session.Block1, 0))
		t.noScript()
		t.do(chromedp.Reload(), chromedp.SetValue("textarea", "une seule fois"))
		before := len(answers(h, v))
		t.do(chromedp.DoubleClick("button.primary"))
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
		t.write(attack)
		t.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		t.sees("#focus", `B<img src=x onerror=window.hacked=4> ?`)
		Expect(t.text(".option")).To(ContainSubstring("<b onmouseover"))
		t.do(chromedp.Click("summary"))
		t.sees(".history", `<script>window.hacked=1</script><img src=x onerror="window.hacked=2"></textarea>`)
		t.tabTo("input[name=choice]")
		t.press(kb.ArrowDown)
		t.tabTo("button")
		t.press(kb.Enter)
		t.sees("#place", "Question 3 sur 3")
		Expect(t.is("window.hacked")).To(BeFalse())
		Expect(t.is(`document.querySelector("main img, main script, main a, main b")`)).To(BeFalse())
		stored := answers(h, v)
		Expect(stored[len(stored)-2].Text).To(Equal(strings.TrimSpace(attack)))
		Expect(stored[len(stored)-1].Text).To(Equal(`B. "><script>window.hacked=6</script>`))
		Expect(t.heard()).To(BeEmpty(), "not even a violation of the policy")
	})

	It("continues at the same place after a reload, with the unfinished text", func() {
		h := newHouse("lea")
		t, v := visit(h, at(session.Block1, 1))
		calls := h.model.made()
		t.tabTo("textarea")
		t.write("à moitié écr")
		t.do(chromedp.Reload())
		t.sees("#place", "Question 2 sur 3")
		t.waits(`document.querySelector("textarea").value === "à moitié écr"`)
		t.tabTo("textarea")
		t.press(kb.End, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		t.write("it")
		t.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		t.sees("#place", "Question 3 sur 3")
		stored := answers(h, v)
		Expect(stored[len(stored)-1].Text).To(Equal("à moitié écrit"))
		Expect(h.model.made()).To(Equal(calls))
		Expect(t.is(`sessionStorage.length === 0`)).To(BeTrue(), "what was sent is not kept in the browser")
	})

	It("returns even a text that is far too long", func() {
		h := newHouse("lea")
		t, v := visit(h, at(session.Block1, 1))
		before := len(answers(h, v))
		t.tabTo("textarea")
		t.write(strings.Repeat("mot ", 100_000))
		t.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		t.sees("[role=alert]", "trop longue")
		Expect(t.is(`document.querySelector("textarea").value.length === 400000`)).To(BeTrue())
		Expect(answers(h, v)).To(HaveLen(before))
	})

	It("shows that it is thinking and disables the form", func() {
		h := newHouse("lea")
		t, _ := visit(h, at(session.Block1, 2))
		gate := make(chan struct{})
		h.model.set(func(context.Context, llm.Request) error { <-gate; return nil })
		t.sees("main", "Ctrl + Entrée envoie aussi.")
		t.tabTo("textarea")
		t.write("une réponse")
		t.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		t.sees("[role=status]", "Lecture de la réponse")
		Expect(t.is(`document.querySelector("button.primary").disabled`)).To(BeTrue())
		const moves = `getComputedStyle(document.getElementById("status"), "::before").animationName`
		Expect(t.is(moves + ` === "breathe"`)).To(BeTrue())
		t.still()
		Expect(t.is(moves+` === "none"`)).To(BeTrue(), "those who ask for stillness get it")
		t.shoot("thinking", 800, false)
		close(gate)
		t.sees("h1", "Ce que j'ai compris")
		Expect(t.text("[role=status]")).To(BeEmpty())
		Expect(t.is(`document.activeElement.id === "focus"`)).To(BeTrue())
		t.shoot("mirror", 320, false)
		t.shoot("mirror", 1280, true)
	})

	It("shows to a second window that the first one is being answered", func() {
		h := newHouse("lea")
		first, v := visit(h, at(session.Block1, 2))
		gate := make(chan struct{})
		calling := make(chan struct{})
		h.model.set(func(context.Context, llm.Request) error { close(calling); <-gate; return nil })
		first.tabTo("textarea")
		first.write("une réponse")
		first.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		Eventually(calling).WithTimeout(patience).Should(BeClosed())
		second := newTab(chrome, first.base)
		second.open("/s/" + v.SessionID)
		second.waits(`document.querySelector("main[data-mode=thinking]")`)
		Expect(second.is(`document.querySelector("form")`)).To(BeFalse())
		close(gate)
		second.sees("h1", "Ce que j'ai compris")
	})

	It("reports a failed model and tries again", func() {
		h := newHouse("lea")
		t, v := visit(h, at(session.Block1, 2))
		h.model.failing(&llm.Error{Kind: llm.Unauthorized})
		t.tabTo("textarea")
		t.write("une réponse")
		t.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		t.sees("[role=alert]", "La réponse est conservée")
		stored := answers(h, v)
		Expect(stored[len(stored)-1].Text).To(Equal("une réponse"))
		t.shoot("failed", 320, false)
		t.shoot("failed", 800, true)
		h.model.failing(nil)
		t.tabTo("button[value=RETRY]")
		t.press(kb.Enter)
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
		t.open("/s/" + v.SessionID)
		t.sees("h1", "Ce que j'ai compris")
		Expect(t.heard()).To(BeEmpty())
	})

	It("keeps the text while the server is down and sends it once afterwards", func() {
		h := newHouse("lea")
		t, v := visit(h, at(session.Block1, 0))
		t.do(offline(true))
		t.tabTo("textarea")
		t.write("écrit dans le train")
		t.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		t.sees("[role=status]", "Le serveur ne répond pas")
		Expect(t.is(`document.querySelector("textarea").value === "écrit dans le train"`)).To(BeTrue())
		Expect(t.is(`document.querySelector("button.primary").disabled || document.querySelector("textarea").readOnly`)).To(BeFalse())
		t.do(offline(false))
		t.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
		t.sees("#place", "Question 2 sur 3")
		stored := answers(h, v)
		Expect(stored[len(stored)-1].Text).To(Equal("écrit dans le train"))
	})

	DescribeTable("fits every window and passes its own accessibility rules",
		func(name string, there func(view) bool) {
			h := newHouse("lea")
			t, _ := visit(h, there)
			for _, width := range []int64{320, 800, 1280} {
				t.shoot(name, width, false)
			}
			t.shoot(name, 800, true)
			Expect(t.heard()).To(BeEmpty())
			Expect(t.is(`document.querySelectorAll("h1").length === 1 && document.querySelectorAll("main").length === 1`)).To(BeTrue())
			Expect(t.is(`[...document.querySelectorAll("input:not([type=hidden]), textarea")].every((e) => e.labels.length === 1)`)).To(BeTrue())
			Expect(t.is(`document.documentElement.lang === "fr"`)).To(BeTrue())
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
		t.do(language("en-GB,en"))
		t.open("/")
		t.sees("h1", "One question at a time")
		for _, width := range []int64{320, 800, 1280} {
			t.shoot("start", width, width == 800)
		}
		t.do(chromedp.SetAttributeValue("#candidate", "pattern", ".*"))
		t.tabTo("#candidate")
		t.write("../../etc/passwd")
		t.press(kb.Enter)
		t.sees("[role=alert]", "letters, digits")
		Expect(t.is(`document.querySelector("#candidate").value === "../../etc/passwd"`)).To(BeTrue())
		all, err := h.store.List(context.Background(), session.Listing{})
		Expect(err).NotTo(HaveOccurred())
		Expect(all).To(BeEmpty())
		t.open("/s/nobody")
		t.sees("h1", "There is nothing here")
		t.open("/nowhere")
		t.sees("h1", "There is nothing here")
	})
})
