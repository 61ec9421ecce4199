package learned_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/learned"
)

func TestLearned(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "learned weights")
}

func example() *learned.Weights {
	w := &learned.Weights{
		Date: "2026-11-23", Data: "ab", Guide: "cd", Items: 3,
		Thresholds: learned.Thresholds{Balanced: 0.4, Strict: 0.1, Careful: 0.8},
		Bias:       learned.Row{-2, 0.5, 0, 1},
		Named:      map[string]learned.Row{"next-own": {2.5, -1, 0, -0.25}},
	}
	w.SetHashed(map[uint32]learned.Row{7: {1, 0, 0, -2}, 3: {0.5, 0, 0, 0}, 0xFFFFFFFF: {-0.125, 1, 1, 1}})
	return w
}

func encoded(w *learned.Weights) []byte {
	GinkgoHelper()
	content, err := w.MarshalBinary()
	Expect(err).NotTo(HaveOccurred())
	return content
}

var _ = Describe("Weights", Label("G-01"), func() {
	It("are the same after writing and reading", func() {
		w, err := learned.Read(bytes.NewReader(encoded(example())))
		Expect(err).NotTo(HaveOccurred())
		Expect(w).To(Equal(example()))
		Expect(encoded(w)).To(Equal(encoded(example())))
	})

	It("are rounded to 1/32767 of the largest weight", func() {
		w := example()
		for hash, want := range map[uint32]learned.Row{7: {1, 0, 0, -2}, 3: {0.5, 0, 0, 0}, 0xFFFFFFFF: {-0.125, 1, 1, 1}} {
			got, ok := w.Hashed(hash)
			Expect(ok).To(BeTrue())
			for c := range got {
				Expect(got[c]).To(BeNumerically("~", want[c], 1.0/32767))
			}
		}
		_, ok := w.Hashed(8)
		Expect(ok).To(BeFalse())
	})

	It("are refused if the file is cut off at any place, or if any byte of it is changed", func() {
		content := encoded(example())
		for n := range content {
			_, err := learned.Read(bytes.NewReader(content[:n]))
			Expect(err).To(MatchError(learned.ErrFormat), "%d bytes", n)
			edited := bytes.Clone(content)
			edited[n] ^= 1
			_, err = learned.Read(bytes.NewReader(edited))
			Expect(err).To(MatchError(learned.ErrFormat), "byte %d", n)
		}
	})

	It("say which version they have if it is another one", func() {
		old := strings.Replace(string(encoded(example())), fmt.Sprintf(`"version":%d`, learned.Version), `"version":99`, 1)
		_, err := learned.Read(strings.NewReader(old))
		Expect(err).To(MatchError(ContainSubstring("version 99, this program reads version 1; fit them again")))
	})

	DescribeTable("are refused if they are out of range, with a valid checksum", func(damage func(*learned.Weights), reason string) {
		w := example()
		damage(w)
		_, err := learned.Read(bytes.NewReader(encoded(w)))
		Expect(err).To(MatchError(learned.ErrFormat))
		Expect(err).To(MatchError(ContainSubstring(reason)))
	},
		Entry("a threshold of 0", func(w *learned.Weights) { w.Thresholds.Strict = 0 }, "a threshold is 0"),
		Entry("a threshold above 1", func(w *learned.Weights) { w.Thresholds.Careful = 1.5 }, "a threshold is 1.5"),
		Entry("a large weight", func(w *learned.Weights) { w.Named["next-own"] = learned.Row{1e9} }, `the weight of "next-own"`),
		Entry("a large bias", func(w *learned.Weights) { w.Bias[2] = -1e9 }, "the bias"),
		Entry("a large table", func(w *learned.Weights) { w.SetHashed(map[uint32]learned.Row{1: {1e9}}) }, "the unit"),
	)

	It("are read from any bytes without a panic", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			_, err := learned.Read(bytes.NewReader(rapid.SliceOf(rapid.Byte()).Draw(t, "content")))
			if err == nil {
				t.Fatal("random bytes were read as weights")
			}
		})
	})

	It("cannot hold numbers that are not finite", func() {
		w := example()
		w.Bias[0] = math.NaN()
		_, err := w.MarshalBinary()
		Expect(err).To(HaveOccurred())
	})
})
