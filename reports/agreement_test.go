package reports_test

import (
	"bytes"
	"encoding/json"
	"iter"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// sampleAgreement compares the labels of answers with those of an annotator who never finds that
// a message suggests, and who labels one message more and one less.
func sampleAgreement(first, second string) *reports.Agreement {
	GinkgoHelper()
	var a, b []detect.Item
	for i, j := range answers() {
		other := j.item
		if other.Label == "suggests" || i == 4 {
			other.Label, other.Confidence = "clean", "low"
		}
		if i == 7 {
			other.Text += " And so on."
		}
		a, b = append(a, j.item), append(b, other)
	}
	b[0].ID = "other"
	all := func(items []detect.Item) iter.Seq2[detect.Item, error] {
		return func(yield func(detect.Item, error) bool) {
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
	found, err := detect.Agree(all(a), all(b), detect.Messages)
	Expect(err).NotTo(HaveOccurred())
	return &reports.Agreement{Tool: "rehearse 0.1.0", First: first, Second: second, Agreement: *found}
}

var _ = Describe("the report of the agreement of two annotators", func() {
	It("shows the table of labels, kappa and the differences", func() {
		var terminal, encoded bytes.Buffer
		r := sampleAgreement("mine.ada.jsonl", "mine.ben.jsonl")
		Expect(doc.Terminal(&terminal, reports.AgreementDocument(r), console.Terminal{})).To(Succeed())
		golden.Expect("detection/agreement.txt", terminal.Bytes())
		Expect(reports.JSON(&encoded, *r)).To(Succeed())
		var back reports.Agreement
		Expect(json.Unmarshal(encoded.Bytes(), &back)).To(Succeed())
		Expect(back.Schema).To(Equal("rehearse.agreement/1"))
		back.Schema = ""
		Expect(back).To(Equal(*r))
	})

	It("escapes foreign text", func() {
		r := sampleAgreement(evilText, evilText)
		r.Differences[0].ID, r.Differences[0].Excerpt = evilText, evilText
		var terminal bytes.Buffer
		Expect(doc.Terminal(&terminal, reports.AgreementDocument(r), console.Terminal{})).To(Succeed())
		Expect(terminal.String()).NotTo(ContainSubstring("\x1b"))
	})
})
