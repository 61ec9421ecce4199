package intrusion

import (
	"context"
	"math"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestFitLearnsWhoIsAddressed(t *testing.T) {
	RegisterTestingT(t)
	var examples []Example
	for _, word := range []string{"kitchen", "doctor", "Sunday", "passport"} {
		examples = append(examples,
			Example{Text: "Who waits for you by the " + word + "?", Private: true, Weight: 1},
			Example{Text: "Who waits for Walter by the " + word + "?", Weight: 1})
	}
	set := NewSet(examples)
	m := set.Fit(context.Background(), 10, func(int) bool { return true })
	Expect(m.Estimate("Who waits for you by the sofa?").Probability()).To(BeNumerically(">", 0.7))
	Expect(m.Estimate("Who waits for Jesse by the sofa?").Probability()).To(BeNumerically("<", 0.3))

	ended, cancel := context.WithCancel(context.Background())
	cancel()
	Expect(set.Fit(ended, 10, func(int) bool { return true })).To(BeNil())
}

func TestWeightsAreRead(t *testing.T) {
	RegisterTestingT(t)
	m := newModel(-1, make([]float64, columns))
	m.scale, m.Fitted = 0.5, "a1b2"
	column := emptyHash.add("kitchen").column()
	m.weights[column] = 100
	read, err := Read(m.Bytes())
	Expect(err).NotTo(HaveOccurred())
	Expect(read).To(Equal(m))

	text := "Who draws in the kitchen?"
	e := read.Estimate(text)
	Expect(text[e.Word.Start:e.Word.End]).To(Equal("kitchen"))
	Expect(e.LogOdds).To(BeNumerically("~", -1+50*2/math.Sqrt(16), 0.01), "few words share the value of at least 16")
	Expect(read.Estimate("Who draws?").Word).To(BeZero())
}

func TestReadRejectsOtherFiles(t *testing.T) {
	RegisterTestingT(t)
	for _, file := range []string{"", "1 (bias)\n", "weights of private life, bias x, unit 1, fitted to a\n", "weights of private life, bias 1, unit 1, fitted to a\nab"} {
		_, err := Read([]byte(file))
		Expect(err).To(MatchError(ContainSubstring("read weights")), file)
	}
}

func TestPassagesCoverTheText(t *testing.T) {
	RegisterTestingT(t)
	text := "One. Two! Three? Four.\n\nFive 3.5, still five"
	var all []string
	Passages(text, func(passage string, start int) {
		Expect(text[start:]).To(HavePrefix(passage))
		all = append(all, strings.TrimSpace(passage))
	})
	Expect(all).To(Equal([]string{"One. Two! Three?", "Four.", "Five 3.5, still five"}))

	Passages(strings.Repeat("word ", 10000), func(passage string, _ int) { Expect(len(passage)).To(BeNumerically("<=", maxPassage+5)) })
}
