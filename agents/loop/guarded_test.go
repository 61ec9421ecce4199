package loop_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/event"
)

var _ = Describe("The stop guard that the settings name", func() {
	const deferring = "The parser is written.\n\nNext steps:\n- Add the tests\n- Update the docs\n\nDONE"

	It("continues a completion that defers work with its steps, and reports its findings", func() {
		r := newRig(loop.Options{StopGuard: "balanced"}, all(deferring, "The parser, its tests and its docs are written.\nDONE")...)
		Expect(r.run().Status).To(Equal(loop.StatusDone))
		Expect(r.sent(2)[0]).To(ContainSubstring("\n1. \"Add the tests\"\n2. \"Update the docs\""))
		verdicts := r.emitted(event.Verdict)
		Expect(verdicts).To(HaveLen(2))
		Expect(verdicts[0].Attrs).To(And(
			HaveKeyWithValue("allow", false), HaveKeyWithValue("class", "defers"), HaveKeyWithValue("policy", "balanced"),
			HaveKeyWithValue("steps", 2), HaveKeyWithValue("forced", true), HaveKeyWithValue("executed", 0)))
		Expect(verdicts[0].Attrs["detections"]).To(BeNumerically(">", 0))
		Expect(verdicts[1].Attrs).To(And(
			HaveKeyWithValue("allow", true), HaveKeyWithValue("forced", false), HaveKeyWithValue("executed", 2)))
	})

	It("orders nothing that only the user decides on, in the language of the answer", func() {
		r := newRig(loop.Options{StopGuard: "balanced"}, all("Le lecteur est écrit.\n\nProchaines étapes :\n- Écrire les tests\n- Pousser en force sur main\n\nDONE",
			"Les tests sont écrits.\nDONE")...)
		r.run()
		Expect(r.sent(2)[0]).To(And(ContainSubstring("Tu as écrit"), ContainSubstring("1. \"Écrire les tests\"\nContinue"),
			ContainSubstring("dépend de l'utilisateur :\n- \"Pousser en force sur main\""), Not(ContainSubstring("2. "))))
		Expect(r.emitted(event.Verdict)[1].Attrs).To(HaveKeyWithValue("executed", 1))
	})

	It("quotes the announcement of a French answer in place of the English reason", func() {
		r := newRig(loop.Options{StopGuard: "balanced"}, all("Le lecteur est écrit. Il reste à écrire les tests.\n\nDONE", "Les tests sont écrits.\nDONE")...)
		r.run()
		Expect(r.sent(2)[0]).To(MatchRegexp("Le travail n'est pas encore terminé \\(tu as écrit « Il reste à.* »\\)\\.\nTu as écrit"))
		Expect(r.sent(2)[0]).NotTo(ContainSubstring("it defers work"))
	})

	It("does not force a run to continue that it ends as capped", func() {
		r := newRig(loop.Options{StopGuard: "balanced", ContinuationLimit: new(0)}, say(deferring))
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusCapped))
		Expect(res.ExitCode).NotTo(BeZero())
		Expect(r.emitted(event.Verdict)[0].Attrs).To(HaveKeyWithValue("forced", false))
	})

	It("reads the summary of a JSON answer", func() {
		r := newRig(loop.Options{StopGuard: "balanced", Mode: loop.JSON, ContinuationLimit: new(0)},
			say(`{"status": "done", "summary": "The schema is there. Remaining: write the migration."}`))
		Expect(r.run().Status).To(Equal(loop.StatusCapped))
	})

	It("is off unless it is asked for", func() {
		Expect(newRig(loop.Options{}, say(deferring)).run().Status).To(Equal(loop.StatusDone))
	})
})
