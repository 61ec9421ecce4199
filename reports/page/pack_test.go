package page_test

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/reports/page"
)

var (
	chunkPattern  = regexp.MustCompile(`(?s)<template class="chunk" data-from="(\d+)">(.*?)</template>\n`)
	packedPattern = regexp.MustCompile(`(?s)<details [^>]*id="([^"]*)"[^>]*><summary>[^\n]*</summary>\n<noscript data-packed="(\d+)">.*?</noscript>`)
)

// unpacked returns a page with its compressed blocks in place, as the script of the page shows them.
func unpacked(html string) string {
	GinkgoHelper()
	var lines []string
	for _, m := range chunkPattern.FindAllStringSubmatch(html, -1) {
		Expect(strconv.Atoi(m[1])).To(Equal(len(lines)), "chunks follow each other")
		raw, err := base64.StdEncoding.DecodeString(m[2])
		Expect(err).NotTo(HaveOccurred())
		text, err := io.ReadAll(flate.NewReader(bytes.NewReader(raw)))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(text)).To(HaveSuffix("\n"))
		lines = append(lines, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
	}
	return packedPattern.ReplaceAllStringFunc(html, func(block string) string {
		m := packedPattern.FindStringSubmatch(block)
		at, err := strconv.Atoi(m[2])
		Expect(err).NotTo(HaveOccurred())
		var out []string
		for run := range strings.SplitSeq(lines[at], " ") {
			from, more := 0, 0
			_, _ = fmt.Sscanf(run, "%d+%d", &from, &more)
			out = append(out, lines[from:from+more+1]...)
		}
		inside := strings.ReplaceAll(strings.Join(out, "\n"), "\x01", m[1])
		return block[:strings.LastIndex(block, "<noscript")] + inside
	})
}

var _ = Describe("Compressed details", func() {
	It("are the plain ones, whatever their lines are", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			text := rapid.StringOfN(rapid.RuneFrom([]rune("ab \n<&\"é\x01")), 0, 60, -1)
			r := run{head: record.Run{ID: "pack"}}
			for i := range 60 {
				s := record.Scenario{Name: fmt.Sprint("s", i), Trials: 1, Agent: "loop"}
				r.add(s, dialogue(s.Name, 1, [2]string{"q" + text.Draw(rt, "question"), strings.Repeat("x", 5000) + text.Draw(rt, "answer")}))
			}
			small, large := r.page(page.Options{MaxBytes: 1_000_000}), r.page(page.Options{MaxBytes: 20_000_000})
			if !strings.Contains(small, "data-packed") || strings.Contains(large, "data-packed") {
				rt.Fatal("the one must be packed, and the other not")
			}
			if a, b := details(unpacked(small)), details(large); a != b {
				rt.Fatalf("%d bytes unpacked, %d plain", len(a), len(b))
			}
		})
	})
})

// details returns the page from the list of scenarios on, without the marks of inert text and
// compressed chunks.
func details(html string) string {
	_, html, _ = strings.Cut(html, `<ol id="list">`)
	return strings.NewReplacer("<noscript>", "", "</noscript>", "").Replace(chunkPattern.ReplaceAllString(html, ""))
}
