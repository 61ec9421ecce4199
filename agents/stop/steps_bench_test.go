package stop

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// BenchmarkSteps extracts the steps of messages of growing size in which every
// sentence is a mention, which no message that people write is. The time of
// reading alone is the floor. Both are linear in the message; the steps stay a
// small part, as their number is bounded.
func BenchmarkSteps(b *testing.B) {
	unit := "## Remaining\n\n- Fix the login page, then run the tests\n- Refactor every module after the review\n\n" +
		"Let me run the tests and je vais déployer le site; il reste à tester, documenter et livrer. "
	for _, size := range []int{1 << 10, 10 << 10, 1 << 20, 10 << 20} {
		message := strings.Repeat(unit, size/len(unit)+1)[:size]
		reader := text.NewReader(lexicon().Words)
		b.Run(fmt.Sprintf("floor/%dK", size>>10), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				reader.Read(message)
			}
		})
		doc := reader.Read(message)
		mentions := everywhere(doc)
		b.Run(fmt.Sprintf("steps/%dK", size>>10), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				steps(doc, mentions, nil)
			}
		})
	}
}

// everywhere returns a mention at the start of each sentence.
func everywhere(doc *text.Doc) []mention {
	var all []mention
	for i, s := range doc.Sentences {
		m := mention{category: RemainingTasks, sentence: i, block: s.Block, real: true, span: Span{s.Start, s.Start + 1}}
		switch doc.Blocks[s.Block].Kind {
		case text.Heading:
			m.form = heading
		case text.Item:
			m.form = item
		default:
		}
		all = append(all, m)
	}
	return all
}
