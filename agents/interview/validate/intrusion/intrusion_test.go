package intrusion

import (
	"context"
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

func TestEstimateNamesTheWords(t *testing.T) {
	RegisterTestingT(t)
	m, err := Read([]byte("-100\t(bias)\n300\tkitchen\n-50\tdraws\n"))
	Expect(err).NotTo(HaveOccurred())
	text := "Who draws in the kitchen?"
	e := m.Estimate(text)
	Expect(e.Words).To(HaveLen(1))
	Expect(text[e.Words[0].Start:e.Words[0].End]).To(Equal("kitchen"))
	Expect(string(m.Bytes())).To(Equal("-100\t(bias)\n-50\tdraws\n300\tkitchen\n"))
}

func TestReadRejectsOtherFiles(t *testing.T) {
	RegisterTestingT(t)
	for _, file := range []string{"", "1 (bias)\n", "x\t(bias)\n", "100\tkitchen\n"} {
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

func TestConceptsAreWellFormed(t *testing.T) {
	RegisterTestingT(t)
	_, err := loadConcepts()
	Expect(err).NotTo(HaveOccurred())
}
