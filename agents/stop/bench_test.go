package stop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/stop"
)

// sample is the work log of an agent with all that a message may hold: headings,
// lists, a table, code, narration and the question at the end.
const sample = `## Export of invoices

I rewrote the exporter and moved the formatting into its own package. The old
entry point is kept, so callers need no change. First the rows are read in
batches of 500, then they are formatted, and later the writer flushes them.

### What changed

- ` + "`export/writer.go`" + `: buffered, 3.1 times faster than before
- ` + "`export/format.go`" + `: dates follow the locale of the customer
- The configuration knows a new key, **batch_size**, with a default of 500

| file | lines | tests |
|---|---|---|
| writer.go | 212 | 14 |
| format.go | 98 | 31 |

` + "```go\nfor batch := range rows.Batches(500) {\n\tif err := w.Write(batch); err != nil {\n\t\treturn err\n\t}\n}\n```" + `

Les essais passent tous, y compris ceux de la facturation. La documentation est à
jour et le fichier de migration est prêt.

All 45 tests pass and the linter is quiet. The remaining step is the column for
the discount; I will add it once the schema is merged.

`

// BenchmarkJudge measures the whole balanced verdict beside a floor: to look at
// each byte once.
func BenchmarkJudge(b *testing.B) {
	for _, size := range []int{1 << 10, 10 << 10, 100 << 10, 1 << 20, 10 << 20} {
		message := strings.Repeat(sample, size/len(sample)+1)[:size]
		b.Run(fmt.Sprintf("floor/%dKB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				n := 0
				for i := range len(message) {
					n += int(message[i])
				}
				if n == 0 {
					b.Fatal("nothing was read")
				}
			}
		})
		b.Run(fmt.Sprintf("judge/%dKB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if v := stop.Judge(message, stop.Options{}); v.Policy != stop.Balanced {
					b.Fatal("the policy is not the default")
				}
			}
		})
	}
}
