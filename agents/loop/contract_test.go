package loop_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/llm"
)

const contract = "When everything is finished, write DONE on a line of its own. " +
	"While work is left, do not write it, and say what is left. " +
	"If you need a person, write a line that begins with BLOCKED: and say why."

var _ = Describe("The contract with the agent", func() {
	auto := loop.Options{Prompt: "Fix the failing test.\n", Contract: loop.AutoContract}
	with := func(change func(*loop.Options)) loop.Options {
		o := auto
		change(&o)
		return o
	}

	It("follows the task, in each call without history", func() {
		r := newRig(auto, all("Still at it.", "DONE")...)
		Expect(r.run().Status).To(Equal(loop.StatusDone))
		Expect(r.sent(1)).To(Equal([]string{"Fix the failing test.\n\n" + contract}))
		Expect(r.sent(2)).To(Equal(r.sent(1)))
	})

	It("follows the prompt that continues a conversation, also one of the user", func() {
		o := with(func(o *loop.Options) { o.History = loop.Conversation })
		r := newRig(o, all("Still at it.", "DONE")...)
		r.run()
		Expect(r.sent(2)[2]).To(Equal("Continue with the task. " + contract))
		o.ContinuePrompt = "Go on!"
		r = newRig(o, all("Still at it.", "DONE")...)
		r.run()
		Expect(r.sent(2)[2]).To(Equal("Go on!\n\n" + contract))
	})

	DescribeTable("is repeated after a refused completion, and after the unfinished answer that follows",
		func(history loop.History) {
			o := with(func(o *loop.Options) { o.History, o.StopGuard = history, "balanced" })
			r := newRig(o, all("The parser is written.\n\nNext steps:\n- Add the tests\n\nDONE", "I am adding them.", "The tests are added.\nDONE")...)
			Expect(r.run().Status).To(Equal(loop.StatusDone))
			for n := 1; n <= 3; n++ {
				last := r.sent(n)[len(r.sent(n))-1]
				Expect(strings.Count(last, contract)).To(Equal(1), last)
				Expect(last).To(HaveSuffix(contract))
				Expect(last).NotTo(ContainSubstring("say again that it is done"))
			}
			if history == loop.Fresh {
				Expect(r.sent(3)).To(Equal(r.sent(2)), "the steps are still to be done")
			}
		},
		Entry("without history", loop.Fresh),
		Entry("in a conversation", loop.Conversation),
	)

	DescribeTable("comes with the note why an answer does not count",
		func(mode loop.Mode, answer, note string) {
			r := newRig(with(func(o *loop.Options) { o.Mode, o.MaxIterations = mode, new(2) }), all(answer, "x")...)
			r.run()
			Expect(r.sent(2)[0]).To(ContainSubstring("\n\nYour last answer does not count as finished: " + note))
		},
		Entry("a decorated marker", loop.Marker, "# DONE\n**DONE**\nwith half of it", `the line "**DONE**" is not the marker DONE`),
		Entry("an unknown status", loop.JSON, `{"status":"finished"}`, `status "finished" is not known`),
		Entry("no object", loop.JSON, "Finished.", "the answer holds no JSON object"),
	)

	It("does not count an answer that was cut off, and says so", func() {
		r := newRig(auto, answer(0, llm.Reply{Text: "DONE", Finish: llm.FinishLength}), say("DONE"))
		r.run()
		Expect(r.sent(2)[0]).To(ContainSubstring("the answer completes but was cut off"))
	})

	It("is French for a French task, unless a language is given", func() {
		o := with(func(o *loop.Options) { o.Prompt = "Corrige le test qui échoue dans le module de paiement." })
		r := newRig(o, say("DONE"))
		r.run()
		Expect(r.sent(1)[0]).To(ContainSubstring("Quand tout est terminé, écris DONE seul sur une ligne."))
		o.Language = loop.English
		r = newRig(o, say("DONE"))
		r.run()
		Expect(r.sent(1)[0]).To(HaveSuffix(contract))
	})

	DescribeTable("names the markers and the form of the mode", func(change func(*loop.Options), parts ...string) {
		for _, language := range []loop.Language{loop.English, loop.French} {
			s, err := loop.Resolve(with(func(o *loop.Options) { o.Language = language; change(o) }))
			Expect(err).NotTo(HaveOccurred())
			for _, part := range parts {
				Expect(s.Contract).To(ContainSubstring(part))
			}
			Expect(s.ContinuePrompt).To(ContainSubstring(s.Contract))
		}
	},
		Entry("markers", func(o *loop.Options) { o.Marker, o.BlockedMarker = "FINI", "STOP:" }, "FINI", "STOP:"),
		Entry("JSON", func(o *loop.Options) { o.Mode = loop.JSON }, `"status": "continue"`, `"done"`, `"blocked"`),
		Entry("answer", func(o *loop.Options) { o.Mode = loop.Answer }, "BLOCKED:"),
	)

	It("can be replaced, and left out", func() {
		r := newRig(with(func(o *loop.Options) { o.Contract = "Write OK." }), say("DONE"))
		r.run()
		Expect(r.sent(1)).To(Equal([]string{"Fix the failing test.\n\nWrite OK."}))
		r = newRig(with(func(o *loop.Options) { o.Contract = loop.NoContract }), say("DONE"))
		r.run()
		Expect(r.sent(1)).To(Equal([]string{"Fix the failing test.\n"}))
	})
})

var _ = DescribeTable("The notes for an agent with a French task are French", Label("L-07"),
	func(mode loop.Mode, first turn, note string) {
		r := newRig(loop.Options{Prompt: "Corrige le test.", Language: loop.French, Contract: loop.AutoContract, Mode: mode, MaxIterations: new(2)}, first, say("x"))
		r.run()
		Expect(r.sent(2)[0]).To(ContainSubstring("\n\n" + note))
	},
	Entry("a marker that does not count", loop.Marker, say("**DONE**\nà moitié"),
		`Ta dernière réponse ne compte pas comme terminée : la ligne "**DONE**" n'est pas le marqueur DONE, qui doit être seul sur sa ligne`),
	Entry("an answer without an object", loop.JSON, say("fini"), "Ta dernière réponse ne compte pas comme terminée : la réponse ne contient pas d'objet JSON."),
	Entry("an object without a status", loop.JSON, say("{}"), "Ta dernière réponse ne compte pas comme terminée : le dernier objet JSON n'a pas de statut."),
	Entry("an unknown status", loop.JSON, say(`{"status": "presque"}`), `Ta dernière réponse ne compte pas comme terminée : le statut "presque" est inconnu`),
	Entry("an answer that was cut off", loop.Marker, answer(0, llm.Reply{Text: "DONE", Finish: llm.FinishTurns}),
		"Ta dernière réponse ne compte pas comme terminée : la réponse annonce la fin, mais elle a été interrompue (motif turn_limit)."),
	Entry("tool calls that failed", loop.Marker, answer(0, llm.Reply{Text: "x", Finish: llm.FinishFailures}),
		"Ton dernier tour a été arrêté, car 25 appels d'outils de suite ont échoué."),
	Entry("several denied tool calls", loop.Marker, answer(0, llm.Reply{Text: "x", Denials: []llm.Denial{{Tool: "a"}, {Tool: "b"}, {Tool: "c"}, {Tool: "d"}, {Tool: "e"}}}),
		"Les permissions de cette exécution ont refusé 5 appels d'outils : a, b, c et 2 autres."),
)

var _ = It("passes the answer of a person on in French", Label("L-07"), func() {
	r := newRig(loop.Options{Prompt: "Corrige le test.", Language: loop.French}, say("DONE"))
	blocked := loop.Result{Transcript: []loop.Entry{{N: 1, Prompt: "Corrige le test.", Answer: "BLOCKED: lequel ?"}}}
	r.deps.Past = ended(blocked, "le second")
	r.run()
	Expect(r.sent(1)[0]).To(ContainSubstring("Tu as passé la main à une personne : lequel ?\nSa réponse : le second"))
})

var _ = It("tells an agent in French that its task changed, and that its turn was cut off", Label("L-07"), func() {
	m := &memory{rig: newRig(loop.Options{Prompt: "Corrige le test.", Language: loop.French}, say("x"), say("DONE")), lost: map[string]bool{}}
	m.deps.Backend = m
	m.deps.Past = &loop.Past{Segments: []loop.Segment{{Session: "s-1"}}}
	prompts := []string{"Corrige le test.", "Corrige les tests."}
	m.deps.ReadPrompt = func() (string, error) {
		text := prompts[0]
		prompts = prompts[1:]
		return text, nil
	}
	m.run()
	Expect(m.sent(1)[0]).To(HavePrefix("Ton dernier tour a été interrompu. Une partie du travail est peut-être déjà faite : "))
	Expect(m.sent(2)[0]).To(HavePrefix("La tâche a changé. La voici :\n\nCorrige les tests."))
})
