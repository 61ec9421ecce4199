package reflect_test

import (
	"os"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/reflect"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

var _ = Describe("The lexicon", func() {
	// entries are the lines of a file that are no comment.
	entries := func(file string) (lines []string) {
		GinkgoHelper()
		data, err := os.ReadFile("lexicon/" + file)
		Expect(err).NotTo(HaveOccurred())
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
		Expect(lines).NotTo(BeEmpty())
		return lines
	}
	folded := func(word string) bool {
		return word == "%" || textfold.Join(word) == word && !strings.Contains(word, " ")
	}

	It("has folded words of known classes, each once", func() {
		for _, file := range []string{"en.txt", "fr.txt"} {
			seen := map[string]bool{}
			for _, line := range entries(file) {
				class, list, ok := strings.Cut(line, ": ")
				Expect(ok).To(BeTrue(), line)
				Expect(class).To(BeElementOf("generic", "filler", "plan", "denial", "formula"), line)
				for word := range strings.FieldsSeq(list) {
					Expect(folded(word)).To(BeTrue(), "%s: %s", file, word)
					Expect(seen).NotTo(HaveKey(class+" "+word), file)
					seen[class+" "+word] = true
				}
			}
		}
	})

	It("has no form of two words", func() {
		seen := map[string]string{}
		for _, line := range entries("same.txt") {
			forms := strings.Fields(line)
			for i, form := range forms {
				Expect(folded(form)).To(BeTrue(), form)
				Expect(slices.Index(forms, form)).To(Equal(i), "%q in %q", form, line)
				Expect(seen).NotTo(HaveKey(form), line)
				seen[form] = line
			}
		}
	})

	It("allows a reflection in another language than its observation", Label("R-04"), func() {
		Expect(reflect.Judge("3 tests failed", "Trois échecs.").Critical).To(BeTrue())
		Expect(reflect.Judge("connection refused", "La connexion est refusée par la machine.").Critical).To(BeTrue())
		Expect(reflect.Judge("2 avertissements", "Two warnings.").Critical).To(BeTrue())
	})
})

var _ = Describe("A text of any length", func() {
	It("is examined up to its first MiB", func() {
		const far = 1 << 20
		for end, critical := range map[string]bool{"eval()": true, strings.Repeat("\n", far) + "eval()": false} {
			Expect(reflect.Judge("no tests "+end, "eval is bad").Critical).To(Equal(critical))
			Expect(reflect.Judge("eval()", "good. "+end).Critical).To(Equal(critical))
		}
	})
})
