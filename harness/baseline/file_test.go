package baseline_test

import (
	"bytes"
	"strings"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/baseline"
)

// read is what a text says, as the file b.json.
func read(text string) (baseline.Baseline, error) {
	return baseline.Read("b.json", strings.NewReader(text))
}

var _ = Describe("the file", func() {
	It("is as it was", func() {
		got := baseline.Encode(sample())
		expectGolden("rehearse.baseline.json", got)
	})

	It("reads back as what was written", func() {
		text := baseline.Encode(sample())
		back, err := read(string(text))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(baseline.Encode(back))).To(Equal(string(text)))
		want := sample()
		want.Run, want.Tool = "", ""
		for i := range want.Scenarios {
			want.Scenarios[i].File = ""
		}
		// Times of a real process are not kept of one trial.
		timed := want.Scenarios[0].Measures
		for i := range timed {
			if timed[i].Unit == "s" {
				timed[i] = baseline.Measure{Name: timed[i].Name, Unit: "s"}
			}
		}
		Expect(cmp.Diff(want, back)).To(BeEmpty())
	})

	It("may be laid out otherwise", func() {
		text := baseline.Encode(sample())
		_, err := read(string(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n  "))))
		Expect(err).NotTo(HaveOccurred())
	})
})
