package stop_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// BenchmarkScan measures to fold a text and to find the words and phrases of the
// shipped lexicons in it, without its structure, beside a floor: what the standard
// library takes to see that the text is UTF-8.
func BenchmarkScan(b *testing.B) {
	g := stop.Lexicon()
	for _, size := range []int{1 << 10, 10 << 10, 100 << 10, 1 << 20, 10 << 20} {
		message := strings.Repeat(sample, size/len(sample)+1)[:size]
		run := func(name string, once func()) {
			b.Run(fmt.Sprintf("%s/%dKB", name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				once()
				for b.Loop() {
					once()
				}
			})
		}
		run("floor", func() {
			if !utf8.ValidString(message) {
				b.Fatal("the text is not valid")
			}
		})
		r := text.NewReader(g.Words)
		var words [128]text.Word
		run("words", func() {
			for next := 0; next < len(message); {
				_, next = r.Tokens(message, next, words[:])
			}
		})
		hits := g.ScanText(r, message, grammar.Any, nil)
		if len(hits) == 0 {
			b.Fatal("nothing was found")
		}
		run("phrases", func() { hits = g.ScanText(r, message, grammar.Any, hits[:0]) })
	}
}
