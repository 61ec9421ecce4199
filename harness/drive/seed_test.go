package drive_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/drive"
)

var _ = Describe("Seed", Label("H-02"), func() {
	It("is the sequence of SplitMix64", func() {
		// The reference implementation's first outputs for seed 0.
		Expect(drive.Seed(0, 1)).To(Equal(uint64(0xe220a8397b1dcdaf)))
		Expect(drive.Seed(0, 2)).To(Equal(uint64(0x6e789e6aa1b965f4)))
		Expect(drive.Seed(0, 3)).To(Equal(uint64(0x06c45d188009454f)))
	})

	It("differs for each trial and for each scenario's seed", func() {
		seen := map[uint64]bool{}
		for seed := range uint64(100) {
			for n := range 100 {
				seen[drive.Seed(seed*0x1000003, n+1)] = true
			}
		}
		Expect(seen).To(HaveLen(100 * 100))
	})
})

const jittered = `
drive: {loop: {prompt: Go on.}}
backend:
  model: gpt-4.1-mini
  replies: [{text: DONE, latency: {first: 10s, jitter: 0.5}}]
`

const retried = `
drive: {loop: {prompt: Go on.}}
backend:
  model: gpt-4.1-mini
  retry: 2
  replies: [{text: DONE, fault: {kind: status, status: 503, times: 2}}]
`

var _ = Describe("The randomness of a trial", Label("H-02"), func() {
	DescribeTable("comes from its seed alone",
		func(text string) {
			d := driver(newEnv(), text)
			took := map[time.Duration]bool{}
			var first [9]string
			for n := 1; n <= 8; n++ {
				t, _ := d.Trial(context.Background(), n)
				Expect(t.Head.Seed).To(Equal(drive.Seed(1, n)))
				first[n] = encoded(t)
				took[t.End.Duration] = true
			}
			Expect(took).To(HaveLen(8), "trials differ")
			for n := 8; n >= 1; n-- { // in another order, with another driver
				again, _ := driver(newEnv(), text).Trial(context.Background(), n)
				Expect(encoded(again)).To(Equal(first[n]))
			}
		},
		Entry("jitter of the latency", jittered),
		Entry("jitter of the waits between retries", retried),
	)

	It("changes with the scenario's seed", func() {
		Expect(done(jittered, 1).End.Duration).NotTo(Equal(done(jittered+"seed: 2\n", 1).End.Duration))
	})
})
