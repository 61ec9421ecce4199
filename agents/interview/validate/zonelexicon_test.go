package validate

import (
	"path"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

var _ = Describe("The lexicon", func() {
	It("has a file for each zone and language, and the others in both", func() {
		var want []string
		for name := range sharedLists {
			want = append(want, name+".en.txt", name+".fr.txt")
		}
		for _, z := range zones() {
			want = append(want, string(z)+".en.txt", string(z)+".fr.txt")
		}
		entries, err := zoneFiles.ReadDir(zoneFolder)
		Expect(err).NotTo(HaveOccurred())
		var got []string
		for _, e := range entries {
			got = append(got, e.Name())
			data, err := zoneFiles.ReadFile(path.Join(zoneFolder, e.Name()))
			Expect(err).NotTo(HaveOccurred())
			for list, line := range textfold.LexiconLines(string(data)) {
				Expect(e.Name()).To(HavePrefix(list+"."), line)
				Expect(textfold.Join(line)).To(Equal(strings.Join(strings.FieldsFunc(line, func(r rune) bool {
					return strings.ContainsRune(" {},!+*", r)
				}), " ")), "lexicons are written folded")
			}
		}
		Expect(got).To(ConsistOf(want))
	})

	It("loads", func() {
		set, err := loadZoneLexicon()
		Expect(err).NotTo(HaveOccurred())
		Expect(set.Longest()).To(BeNumerically("<", 16), "the search continues a phrase for so many words")
	})
})

// BenchmarkLoad measures the additional time of the first search.
func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := loadZoneLexicon(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkZones(b *testing.B) {
	text := strings.Repeat("Tu avances quand le défi est net. You stay calm under pressure, and people notice. ", 1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		findZones(text)
	}
}
