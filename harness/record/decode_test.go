package record_test

import (
	"bytes"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/record"
)

var _ = Describe("Decode", Label("H-04"), func() {
	encoded := func(trials ...record.Trial) []byte {
		GinkgoHelper()
		var all []byte
		for _, t := range trials {
			lines, err := record.Encode(t)
			Expect(err).NotTo(HaveOccurred())
			all = append(all, lines...)
		}
		return all
	}
	trial := func(n int) record.Trial {
		return record.Trial{
			Head:     record.TrialHead{Scenario: "a", N: n, Seed: 7},
			Messages: []record.Message{{ID: "m1"}},
			Calls:    []record.Call{{N: 1, Backend: "openai", Messages: []string{"m1"}, Reply: "m1"}},
			Script:   record.Script{Unused: []string{"replies[0]"}},
			End:      record.End{Status: "done", Text: "line\nanother", ExitCode: 3},
		}
	}

	It("returns the trials that were encoded, whose lines are the same again", func() {
		want := []record.Trial{trial(1), trial(2)}
		lines := encoded(want...)
		got, err := record.Decode(lines)
		Expect(err).NotTo(HaveOccurred())
		Expect(got).To(Equal(want))
		Expect(encoded(got...)).To(Equal(lines))
		Expect(record.Decode(nil)).To(BeEmpty())
	})

	It("refuses lines that are missing, damaged or in another order", func() {
		lines := bytes.SplitAfter(encoded(trial(1)), []byte("\n"))
		lines = lines[:len(lines)-1]
		for i := range lines {
			without := bytes.Join(append(append([][]byte{}, lines[:i]...), lines[i+1:]...), nil)
			if kind := string(lines[i]); kind[:14] == `{"type":"call"` || kind[:16] == `{"type":"script"` {
				continue // a trial may have none
			}
			_, err := record.Decode(without)
			Expect(err).To(HaveOccurred(), "without %s", lines[i])
		}
		for _, text := range []string{
			"x\n", "{}\n", `{"type":"end","status":"done"}` + "\n", string(lines[0]) + string(lines[0]),
			string(lines[0]) + `{"type":"newer"}` + "\n", string(lines[0]) + `{"type":"end","status":7}` + "\n",
		} {
			_, err := record.Decode([]byte(text))
			Expect(err).To(HaveOccurred(), text)
		}
	})
})
