package stop_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// real returns the detections of the verdict that are real mentions.
func real(v stop.Verdict) []stop.Detection {
	return slices.DeleteFunc(slices.Clone(v.Detections), func(d stop.Detection) bool { return !d.Real })
}

func balanced(message string) stop.Verdict { return stop.Judge(message, stop.Options{}) }

func strict(message string) stop.Verdict {
	return stop.Judge(message, stop.Options{Policy: stop.Strict})
}

var _ = Describe("what defers", func() {
	DescribeTable("an announced action at the end", func(message string) {
		v := balanced(message)
		Expect(v.Class).To(Equal(stop.Defers), v.Reason)
		Expect(v.MayStop).To(BeFalse())
	},
		Entry("let me", "The schema is in place. Now let me run the migration:"),
		Entry("let's", "Both clients build. Let's also check the Windows target."),
		Entry("I'll", "The parser accepts comments. I'll wire it into the CLI next."),
		Entry("going to", "I'm going to rewrite the cache so that it evicts by age."),
		Entry("a verb that no list knows", "The lens data is loaded. I'll defragment the tile index now."),
		Entry("gerund and colon", "Updating the snapshots for the new header:"),
		Entry("je vais", "Le schéma est en place. Je vais maintenant lancer la migration."),
		Entry("on va", "Les deux clients compilent. On va vérifier la cible Windows."),
		Entry("imperative of nous", "Le parseur accepte les commentaires. Vérifions maintenant les performances :"),
		Entry("present", "Compris. Je corrige ça tout de suite et je pousse."),
		Entry("future", "Le cache est prêt ; je brancherai la page de recherche."),
		Entry("after a number", "## 4. Reconstruisons l'index"),
	)

	DescribeTable("a promise that an agent that stopped cannot keep", func(message string) {
		v := balanced(message)
		Expect(v.Class).To(Equal(stop.Defers), v.Reason)
		Expect(v.Signals).To(ContainElement(HaveField("Name", "promise")))
	},
		Entry("report back", "The nightly job has started. I will report back with the numbers."),
		Entry("once it is done", "The image is building. Once it finishes I'll restart the workers."),
		Entry("je te préviens", "Le job de nuit est parti, je te préviens dès qu'il a fini."),
		Entry("je reviens vers vous", "L'image se construit. Je reviens vers vous avec le résultat."),
	)

	DescribeTable("permission for what was asked for, or for going on", func(message string) {
		v := balanced(message)
		Expect(v.Class).To(Equal(stop.Defers), v.Reason)
	},
		Entry("remaining failures", "31 tests pass, 4 tests still fail in the importer. Should I continue with the remaining failures?"),
		Entry("the rest of a list", "You asked for six exports. Two are done, the other four are still missing. Would you like me to continue?"),
		Entry("la suite", "Sur les cinq modules, deux sont migrés, il reste les trois autres. Veux-tu que je continue ?"),
	)
})

var _ = Describe("the five categories in both languages", Label("G-02"), func() {
	DescribeTable("each phrase family is a real mention of its category",
		func(category stop.Category, message string) {
			v := strict(message)
			if category != stop.ConditionalIntentions { // what could be done is mentioned, and hardly ever deferred
				Expect(v.MayStop).To(BeFalse(), v.Reason)
			}
			var found []stop.Category
			for _, d := range real(v) {
				found = append(found, d.Category)
			}
			Expect(found).To(ContainElement(category))
		},
		Entry(nil, stop.NextSteps, "Voilà. Prochaines étapes : brancher le cache."),
		Entry(nil, stop.NextSteps, "Voilà. Étapes suivantes : brancher le cache."),
		Entry(nil, stop.NextSteps, "Voilà. Prochaine action : brancher le cache."),
		Entry(nil, stop.NextSteps, "Voilà. Actions suivantes : brancher le cache."),
		Entry(nil, stop.NextSteps, "Le cache sera branché dans les prochaines étapes."),
		Entry(nil, stop.NextSteps, "Les étapes à suivre sont le cache et l'index."),
		Entry(nil, stop.NextSteps, "There. Next steps: connect the cache."),
		Entry(nil, stop.NextSteps, "The following step is to connect the cache."),
		Entry(nil, stop.NextSteps, "Next actions: connect the cache."),
		Entry(nil, stop.NextSteps, "Upcoming steps are the cache and the index."),
		Entry(nil, stop.NextSteps, "The steps to follow are the cache and the index."),
		Entry(nil, stop.RemainingTasks, "Tâches restantes : le cache."),
		Entry(nil, stop.RemainingTasks, "Tâches à faire : le cache."),
		Entry(nil, stop.RemainingTasks, "Tâche à compléter : le cache."),
		Entry(nil, stop.RemainingTasks, "Tâches à réaliser : le cache."),
		Entry(nil, stop.RemainingTasks, "Il reste à brancher le cache."),
		Entry(nil, stop.RemainingTasks, "Il restera à brancher le cache."),
		Entry(nil, stop.RemainingTasks, "Il faudra brancher le cache."),
		Entry(nil, stop.RemainingTasks, "Il faudrait brancher le cache."),
		Entry(nil, stop.RemainingTasks, "Le cache et l'index restent à faire."),
		Entry(nil, stop.RemainingTasks, "Remaining tasks: the cache."),
		Entry(nil, stop.RemainingTasks, "Tasks to do: the cache."),
		Entry(nil, stop.RemainingTasks, "Tasks to complete: the cache."),
		Entry(nil, stop.RemainingTasks, "The cache needs to be done."),
		Entry(nil, stop.RemainingTasks, "We still need to connect the cache."),
		Entry(nil, stop.FutureActions, "Je brancherai ensuite le cache."),
		Entry(nil, stop.FutureActions, "Le cache sera branché plus tard."),
		Entry(nil, stop.FutureActions, "Le cache sera branché par la suite."),
		Entry(nil, stop.FutureActions, "Dans un second temps, je brancherai le cache."),
		Entry(nil, stop.FutureActions, "Le cache sera branché dans une prochaine itération."),
		Entry(nil, stop.FutureActions, "Le cache sera branché ultérieurement."),
		Entry(nil, stop.FutureActions, "À l'avenir, je brancherai aussi le cache."),
		Entry(nil, stop.FutureActions, "Je brancherai le cache dans le futur."),
		Entry(nil, stop.FutureActions, "Then I will connect the cache."),
		Entry(nil, stop.FutureActions, "I will connect the cache later."),
		Entry(nil, stop.FutureActions, "Afterwards I'll connect the cache."),
		Entry(nil, stop.FutureActions, "Subsequently I will connect the cache."),
		Entry(nil, stop.FutureActions, "I will connect the cache in the future."),
		Entry(nil, stop.FutureActions, "Next time I will connect the cache."),
		Entry(nil, stop.ConditionalIntentions, "On pourrait brancher le cache."),
		Entry(nil, stop.ConditionalIntentions, "Nous pourrions brancher le cache."),
		Entry(nil, stop.ConditionalIntentions, "Il serait bien de brancher le cache."),
		Entry(nil, stop.ConditionalIntentions, "Ce serait bien de brancher le cache."),
		Entry(nil, stop.ConditionalIntentions, "Je suggère de brancher le cache."),
		Entry(nil, stop.ConditionalIntentions, "Je recommande de brancher le cache."),
		Entry(nil, stop.ConditionalIntentions, "We could connect the cache."),
		Entry(nil, stop.ConditionalIntentions, "We should connect the cache."),
		Entry(nil, stop.ConditionalIntentions, "It would be good to connect the cache."),
		Entry(nil, stop.ConditionalIntentions, "I suggest to connect the cache."),
		Entry(nil, stop.ConditionalIntentions, "I recommend connecting the cache."),
		Entry(nil, stop.EnumerativeList, "Prochaines tâches :\n- brancher le cache\n- mesurer"),
		Entry(nil, stop.EnumerativeList, "Remaining work:\n1. connect the cache\n2. measure it"),
	)
})

var _ = Describe("a mere reference", Label("G-04"), func() {
	DescribeTable("lets a message stop under both policies", func(message string) {
		v := strict(message)
		Expect(real(v)).To(BeEmpty())
		Expect(v.MayStop).To(BeTrue(), v.Reason)
		Expect(v.Policies).To(Equal(map[stop.Policy]bool{stop.Balanced: true, stop.Strict: true, stop.Careful: true}))
	},
		Entry("all steps done", "J'ai complété toutes les étapes demandées."),
		Entry("then in narration", "The loader reads the header, then the body, and checks the sum."),
		Entry("then within a word", "Authentication uses the token of the session."),
		Entry("later in narration", "The first run failed and a later run passed, as the log shows."),
		Entry("ensuite in narration", "Le chargeur lit l'en-tête, ensuite le corps, et vérifie la somme."),
		Entry("in code", "Use `next steps` as the key:\n\n```yaml\nnext steps: connect the cache\n```"),
		Entry("in a quotation", "Renamed the label “Next steps: pay and confirm” in the shop."),
		Entry("in a block quotation", "The note in the tracker was:\n\n> Remaining tasks: connect the cache.\n\nIt was from last year and is gone."),
		Entry("a section of a document", "Wrote the \"Next steps\" section of the guide."),
		Entry("nothing left", "All done, no remaining tasks."),
		Entry("rien à faire", "Tout est terminé, aucune tâche restante."),
		Entry("nothing at all", ""),
	)
})

var _ = DescribeTable("the head of a table names what is not done in a column, unless another column counts what is",
	func(message string, refused bool) { Expect(balanced(message).MayStop).To(Equal(!refused)) },
	Entry(nil, "| Task | TODO |\n|---|---|\n| T-3 | write the guide |\n| T-4 | draw the map |", true),
	Entry(nil, "| Tâche | À faire |\n|---|---|\n| T-3 | écrire le guide |\n| T-4 | dessiner la carte |", true),
	Entry(nil, "| Module | Done | TODO |\n|---|---|---|\n| parser | all of it | nothing at all |\n| printer | all of it | nothing at all |", false),
	Entry(nil, "| Module | TODO |\n|---|---|\n| parser | 0 |\n| printer | 0 |", false),
)

var _ = Describe("the user", Label("G-11"), func() {
	DescribeTable("is asked or advised and the message may stop under the balanced policy",
		func(class stop.Class, message string) {
			v := balanced(message)
			Expect(v.Class).To(Equal(class), v.Reason)
			Expect(v.MayStop).To(BeTrue())
		},
		Entry("a decision", stop.Asks, "Both formats work. Which one do you prefer for the archive?"),
		Entry("an input", stop.Asks, "I cannot reach the registry without a token. Could you provide one?"),
		Entry("une décision", stop.Asks, "Les deux formats conviennent. Lequel préférez-vous pour l'archive, CSV ou JSON ?"),
		Entry("an idea beyond the task", stop.Suggests, "The export is complete and tested. If you want, I can add a dark theme."),
		Entry("une idée", stop.Suggests, "L'export est complet et testé. Si tu veux, je peux ajouter un thème sombre."),
	)

	It("may not stop on a suggestion under the strict policy, and the verdict tells both", func() {
		v := strict("The export is complete and all tests pass. Would you like me to add a dark theme next?")
		Expect(v.MayStop).To(BeFalse())
		Expect(v.Policies).To(Equal(map[stop.Policy]bool{stop.Balanced: true, stop.Strict: false, stop.Careful: true}))
		Expect(v.Reason).To(ContainSubstring("strict"))
	})
})

var _ = Describe("the examples of the source documents", Label("G-05"), func() {
	DescribeTable("may not stop and yield their steps", func(message string, steps ...string) {
		v := balanced(message)
		Expect(v.MayStop).To(BeFalse(), v.Reason)
		Expect(stop.Texts(v.Steps)).To(Equal(steps))
	},
		Entry(nil, "Tâche complétée. Prochaines étapes: 1. Test 2. Deploy", "Test", "Deploy"),
		Entry(nil, "Code créé. Il reste à tester et documenter.", "tester", "documenter"),
		Entry(nil, "Terminé. Actions restantes:\n- Test\n- Deploy\n- Doc", "Test", "Deploy", "Doc"),
		Entry(nil, "Fait. Prochaines étapes: tester.", "tester"),
	)
})

var _ = Describe("a verdict", func() {
	const message = "The reader is done.\n\nRemaining work:\n- the writer\n- the index\n\nShall I continue with the writer?"

	It("carries what was found, where, and why", Label("G-03"), func() {
		v := strict("Next, the loader reads it. " + message)
		Expect(v.Detections).NotTo(BeEmpty())
		for _, d := range v.Detections {
			Expect(d.Category).To(BeElementOf(stop.NextSteps, stop.RemainingTasks, stop.FutureActions, stop.ConditionalIntentions, stop.EnumerativeList))
			Expect(d.Pattern).NotTo(BeEmpty())
			Expect(d.Why).NotTo(BeEmpty())
			Expect(d.Severity).To(BeElementOf(stop.Low, stop.Medium, stop.High, stop.Critical))
			Expect(d.Context).To(ContainSubstring(d.Text))
		}
	})

	It("explains its score by its signals", func() {
		v := balanced(message)
		sum := 0.0
		for i, s := range v.Signals {
			sum += s.Weight
			if i > 0 {
				Expect(s.Weight*s.Weight).To(BeNumerically("<=", v.Signals[i-1].Weight*v.Signals[i-1].Weight), "heaviest first")
			}
		}
		Expect(v.Score).To(BeNumerically("~", 1/(1+math.Exp(-sum)), 0.0001))
		Expect(v.Reason).To(ContainSubstring("Remaining work"))
	})

	It("says the point and the policy that it was asked with", func() {
		v := stop.Judge(message, stop.Options{Policy: stop.Strict, Point: stop.VoluntaryPause})
		Expect(v.Policy).To(Equal(stop.Strict))
		Expect(v.Point).To(Equal(stop.VoluntaryPause))
	})

	It("follows the threshold", func() {
		score := balanced(message).Score
		Expect(stop.Judge(message, stop.Options{Threshold: score}).Class).To(Equal(stop.Defers))
		Expect(stop.Judge(message, stop.Options{Threshold: score + 0.0001}).Class).NotTo(Equal(stop.Defers))
	})

	It("takes any threshold", func() {
		for _, message := range []string{"", "Nothing to see.", message} {
			Expect(stop.Judge(message, stop.Options{Threshold: 1e-9}).Class).To(Equal(stop.Defers))
			Expect(stop.Judge(message, stop.Options{Threshold: math.NaN()})).To(Equal(balanced(message)))
			Expect(stop.Judge(message, stop.Options{Threshold: -1})).To(Equal(balanced(message)))
		}
	})

	It("lists so many detections and counts the others", func() {
		v := strict(strings.Repeat("- [ ] connect the cache\n", 3000))
		Expect(v.Detections).To(HaveLen(200))
		Expect(v.Reason).To(ContainSubstring("2800 more mentions"))
	})
})

// pieces are parts of messages, for generated ones.
var pieces = []string{
	"Now let me run the tests:", "Il reste à migrer les données.", "## Next steps", "- connect the cache", "- [ ] le cache",
	"1. mesurer", "All tests pass.", "Veux-tu que je continue ?", "We could add a theme.", "| index | to do |", "\n", "\n\n",
	"```go\nlet me run\n```", "> next steps", "Je te préviens dès que c'est fait.", "**", "\xff\xfe", "\x00", "Which one do you prefer?",
	"Fait. ", "ensuite ", "é", "e\u0301", "’", "…", "🚀", "Let me know if you need anything else.",
}

var _ = Describe("every message", func() {
	message := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), rapid.SampledFrom([]string{"", " ", "\n"}).Draw(t, "between"))
	})

	It("has the same verdict each time, and a sound one", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			m := message.Draw(t, "message")
			v := strict(m)
			if again := strict(m); v.Score != again.Score || v.Reason != again.Reason || len(v.Steps) != len(again.Steps) {
				t.Fatalf("two verdicts differ: %v and %v", v, again)
			}
			sound(t, m, v)
		})
	})
})

// fataler is what a failed check is told to.
type fataler interface {
	Fatalf(format string, args ...any)
}

// sound checks what holds of every verdict.
func sound(t fataler, message string, v stop.Verdict) {
	if v.Score < 0 || v.Score > 1 || v.Reason == "" {
		t.Fatalf("score %v, reason %q", v.Score, v.Reason)
	}
	if v.MayStop != v.Policies[v.Policy] {
		t.Fatalf("may stop: %v, by policy: %v", v.MayStop, v.Policies)
	}
	if v.Policies[stop.Strict] && !v.Policies[stop.Balanced] {
		t.Fatalf("what the balanced policy refuses, the strict one lets stop")
	}
	if !v.MayStop && len(real(v)) == 0 {
		t.Fatalf("no real mention explains the refusal of %q", message)
	}
	if v.MayStop && len(v.Steps) > 0 {
		t.Fatalf("a message that may stop leaves steps")
	}
	for _, d := range v.Detections {
		if d.Start < 0 || d.End > len(message) || d.Start > d.End || message[d.Start:d.End] != d.Text {
			t.Fatalf("detection %q is not at %d to %d", d.Text, d.Start, d.End)
		}
	}
	for _, s := range v.Signals {
		if s.Start < 0 || s.End > len(message) || s.Start > s.End {
			t.Fatalf("signal %s is at %d to %d", s.Name, s.Start, s.End)
		}
	}
}

var _ = Describe("what a message shows or quotes", Label("G-04"), func() {
	It("changes nothing, wherever it stands before the end", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			before := rapid.SampledFrom([]string{"The reader is rewritten and all tests pass.", "Le lecteur est réécrit."}).Draw(t, "before")
			after := rapid.SampledFrom([]string{
				"Nothing else was touched.", "Now let me run the migration:", "Il reste à migrer les données.", "Which one do you prefer?",
			}).Draw(t, "after")
			shown := rapid.SampledFrom([]string{
				"```\nNext steps: let me deploy. I will report back.\n```", "> Next steps: let me deploy. Il reste à tester.",
				"    let me deploy the rest\n    next steps: deploy",
			}).Draw(t, "shown")
			plain := balanced(before + "\n\n" + after)
			with := balanced(before + "\n\n" + shown + "\n\n" + after)
			if plain.Class != with.Class {
				t.Fatalf("%s became %s with %q", plain.Class, with.Class, shown)
			}
		})
	})
})

var _ = Describe("hostile input", func() {
	DescribeTable("has a verdict", func(message string) {
		sound(GinkgoT(), message, strict(message))
	},
		Entry("nothing", ""),
		Entry("one line of 5 MB", strings.Repeat("a word and another one, then ", 5<<20/29)),
		Entry("invalid UTF-8", strings.Repeat("let me run \xff\xc3 the tests ", 1000)),
		Entry("NULs", strings.Repeat("\x00next steps\x00", 1000)),
		Entry("headings only", strings.Repeat("# Next steps\n", 1000)),
		Entry("deep lists", deep(500)),
		Entry("an unclosed fence", "Next steps:\n```\nlet me run"),
		Entry("a phrase without end", strings.Repeat("now let me now also ", 20000)),
	)
})

func deep(levels int) string {
	var b strings.Builder
	b.WriteString("Remaining:\n")
	for i := range levels {
		b.WriteString(strings.Repeat("  ", i) + "- [ ] level\n")
	}
	return b.String()
}

var _ = Describe("the table of signals", func() {
	It("is the one that the documentation shows", func() {
		table := stop.Table()
		weight := func(d stop.Definition) float64 { return stop.ShippedWeights().Named[d.Name][0] }
		slices.SortStableFunc(table, func(a, b stop.Definition) int { return cmp.Compare(math.Abs(weight(b)), math.Abs(weight(a))) })
		var text strings.Builder
		text.WriteString("| signal | meaning | weight | at most |\n|---|---|--:|--:|\n")
		for _, d := range table {
			fmt.Fprintf(&text, "| `%s` | %s | %+.1f | %d |\n", d.Name, d.Meaning, weight(d), d.Most)
		}
		golden.ExpectBlock("../../docs/explanation/detector.md", "signals", text.String())
	})

	It("names each signal once and says what it means", func() {
		names := map[string]bool{}
		for _, d := range stop.Table() {
			Expect(names).NotTo(HaveKey(d.Name))
			names[d.Name] = true
			Expect(d.Meaning).NotTo(BeEmpty())
			Expect(d.Most).To(BeNumerically(">", 0))
			Expect(stop.ShippedWeights().Named).To(HaveKey(d.Name))
		}
	})
})
