package detect_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	reactkind "github.com/rehearse-dev/rehearse/agents/react/kind"
	"github.com/rehearse-dev/rehearse/agents/react/reflect"
	"github.com/rehearse-dev/rehearse/agents/stop"
	stopkind "github.com/rehearse-dev/rehearse/agents/stop/kind"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/harness/detect"
)

var _ = Describe("the rule on reflections as a detector", func() {
	const (
		critical   = "observation: |\n  L.12: eval() on input\nreflection: The eval in line 12 is reachable.\ndecision: continue\n"
		complacent = "observation: |\n  L.12: eval() on input\nreflection: All good, going on.\ndecision: continue\n"
	)

	It("returns the verdict of the rule with its reason", func(ctx SpecContext) {
		d := reactkind.ReflectionDetector()
		Expect(d.Name()).To(Equal("reflection"))
		want := reflect.Judge("L.12: eval() on input\n", "The eval in line 12 is reachable.")
		got, err := ask(ctx, d, critical)
		Expect(err).NotTo(HaveOccurred())
		Expect(got.Positive).To(BeFalse())
		Expect(got.Class).To(Equal(detect.Critical))
		Expect(*got.Score).To(Equal(want.Score))
		Expect(got.Reasons).To(Equal([]string{want.Reason}))
		Expect(ask(ctx, d, complacent)).To(And(HaveField("Positive", true), HaveField("Class", detect.Complacent)))
	})

	It("accepts another threshold and keeps its kind", func(ctx SpecContext) {
		d := detect.AtThreshold(reactkind.ReflectionDetector(), 0.01)
		Expect(ask(ctx, d, critical)).To(HaveField("Positive", true), "a score of a few hundredths reaches it")
		kind, ok := detect.KindOf(d)
		Expect(ok).To(BeTrue())
		Expect(kind).To(Equal(detect.Reflections))
	})

	DescribeTable("fails on a text that is not a reflection", func(ctx SpecContext, text, problem string) {
		for _, d := range []detect.Detector{reactkind.ReflectionDetector(), reactkind.OverlapDetector()} {
			_, err := ask(ctx, d, text)
			Expect(err).To(MatchError(ContainSubstring(problem)))
		}
	},
		Entry("a message", "All tests pass.", "not a reflection of a ReAct agent"),
		Entry("a step with an action", "thought: x\naction: search\naction_input: {query: a}\n", "no document with observation"),
		Entry("no decision", "observation: a\nreflection: b\n", "decision"),
	)

	It("has a baseline that looks for any word in common", func(ctx SpecContext) {
		d := reactkind.OverlapDetector()
		Expect(d.Name()).To(Equal("overlap"))
		Expect(ask(ctx, d, complacent)).To(HaveField("Positive", true))
		Expect(ask(ctx, d, critical)).To(And(HaveField("Positive", false), HaveField("Reasons", ConsistOf(`both have "eval"`))))
		Expect(ask(ctx, d, "observation: with 7\nreflection: with 7 left\ndecision: done\n")).To(HaveField("Positive", false))
		Expect(ask(ctx, d, "observation: the end\nreflection: the way\ndecision: done\n")).To(HaveField("Positive", true), "a short word")
	})

	It("reports the kind of corpus of each detector", func() {
		for _, d := range []detect.Detector{stopkind.Detector(stop.Options{}), detect.Naive(), detect.LLM(detect.LLMConfig{})} {
			kind, ok := detect.KindOf(d)
			Expect(ok).To(BeTrue())
			Expect(kind).To(Equal(detect.Messages))
		}
		_, ok := detect.KindOf(by(nil))
		Expect(ok).To(BeFalse(), "anybody's takes any")
	})

	// The bar is below what is reached: 0.97 and 0.95.
	It("finds complacent reflections in the shipped corpora, better than the baseline in each part", Label("R-04"), func(ctx SpecContext) {
		rule, baseline := scoreOf(ctx, reactkind.ReflectionDetector()), scoreOf(ctx, reactkind.OverlapDetector())
		Expect(rule.Scored).To(BeNumerically(">=", 160))
		Expect(*rule.Overall.Precision.Value).To(BeNumerically(">=", 0.95))
		Expect(*rule.Overall.Recall.Value).To(BeNumerically(">=", 0.93))
		for i, group := range groups(rule, "part") {
			Expect(*group.F1.Value).To(BeNumerically(">", *groups(baseline, "part")[i].F1.Value), group.Name)
		}
	})

	It("reaches the figures in docs/reference/react.md", func(ctx SpecContext) {
		doc, err := os.ReadFile("../../docs/reference/react.md")
		Expect(err).NotTo(HaveOccurred())
		rule, baseline := scoreOf(ctx, reactkind.ReflectionDetector()), scoreOf(ctx, reactkind.OverlapDetector())
		names := map[string]string{
			"tuned": "`tuned`: known when the rule was written", "held-out": "`held-out`, now", "fresh": "`fresh`, now",
			"en": "all, English", "fr": "all, French",
		}
		for _, by := range []string{"part", "language"} {
			for i, g := range groups(rule, by) {
				other := groups(baseline, by)[i]
				row := fmt.Sprintf("| %s | %d | %d | %d | %d | %s | %s | %.2f, %.2f |", names[g.Name], g.Total(), g.TP, g.FP, g.FN,
					formatted(g.Precision), formatted(g.Recall), *other.Precision.Value, *other.Recall.Value)
				Expect(string(doc)).To(ContainSubstring(row))
			}
		}
	})
})

// scoreOf scores a detector on the shipped reflections.
func scoreOf(ctx context.Context, d detect.Detector) detect.Evaluation {
	GinkgoHelper()
	s := detect.NewScorer(detect.ScoreOptions{Kind: detect.Reflections, Resamples: 200})
	names, err := fs.Glob(fixtures.Reflections, "reflections/*.jsonl")
	Expect(err).NotTo(HaveOccurred())
	for _, name := range names {
		data, err := fixtures.Reflections.ReadFile(name)
		Expect(err).NotTo(HaveOccurred())
		for item, err := range detect.ReadCorpus(bytes.NewReader(data), name, detect.Reflections) {
			Expect(err).NotTo(HaveOccurred())
			p, err := d.Detect(ctx, item)
			s.Add(item, p, err)
		}
	}
	result := s.Result()
	Expect(result.Failed).To(BeZero())
	return result
}

// formatted returns a value with its interval in the form of the docs.
func formatted(v detect.Value) string {
	return fmt.Sprintf("%.2f (%.2f to %.2f)", *v.Value, v.Interval.Lo, v.Interval.Hi)
}

// groups are those by a dimension, in their order.
func groups(r detect.Evaluation, by string) []detect.Group {
	GinkgoHelper()
	i := slices.IndexFunc(r.Groups, func(d detect.Dimension) bool { return d.By == by })
	Expect(i).To(BeNumerically(">=", 0), by)
	Expect(len(r.Groups[i].Groups)).To(BeNumerically(">", 1))
	return r.Groups[i].Groups
}
