package zones

import (
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The lexicon", func() {
	It("has a file for each zone and language, and the others in both", func() {
		var want []string
		for name := range others {
			want = append(want, name+".en.txt", name+".fr.txt")
		}
		for _, z := range Zones() {
			want = append(want, string(z)+".en.txt", string(z)+".fr.txt")
		}
		entries, err := files.ReadDir("lexicon")
		Expect(err).NotTo(HaveOccurred())
		var got []string
		for _, e := range entries {
			got = append(got, e.Name())
		}
		Expect(got).To(ConsistOf(want))
	})

	It("loads", func() {
		m, err := load()
		Expect(err).NotTo(HaveOccurred())
		Expect(m.longest).To(BeNumerically("<", 16), "the search goes on with a phrase for so many words")
	})

	DescribeTable("stands for phrases", func(line, want string) {
		all, err := expand(line)
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Join(all, "|")).To(Equal(want))
	},
		Entry("one", "ta foi", "ta foi"),
		Entry("alternatives", "a{,s} b{x,y}", "a bx|a by|as bx|as by"),
		Entry("nested", "{a,b{c,d}}e", "ae|bce|bde"),
		Entry("alternatives of several words", "{un deux,trois} quatre", "un deux quatre|trois quatre"),
	)

	DescribeTable("is refused", func(line, want string) {
		Expect(newMachine().line("health", line)).To(MatchError(ContainSubstring(want)))
	},
		Entry("a brace that is not closed", "a{b,c", "not closed"),
		Entry("a brace that is not opened", "a}b", "not opened"),
		Entry("a phrase that begins with any word", "_ sante", "does not begin with a word"),
		Entry("a phrase without words", "…", "does not begin with a word"),
		Entry("too many phrases", strings.Repeat("{a,b,c,d,e,f,g,h,i,j}", 4), "at most 5000"),
	)
})

// BenchmarkLoad is what the first search costs more than the others.
func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		m, err := load()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(m.ends)-1), "nodes")
		b.ReportMetric(float64(len(m.ids)), "words")
	}
}
