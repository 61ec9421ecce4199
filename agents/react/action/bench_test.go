package action_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
)

// codeBase makes 200 files of code, and says how many bytes they have.
func codeBase(b *testing.B) (folder string, size int64) {
	b.Helper()
	folder = b.TempDir()
	text := strings.Repeat("def price(item, count):\n    \"\"\"The price of some items.\"\"\"\n    total = item.price * count\n    return db.execute(\"SELECT 1 WHERE id = ?\", (item.id,)) or total\n\n", 70)
	for i := range 200 {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("f%d.py", i)), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
		size += int64(len(text))
	}
	return folder, size
}

func benchmark(b *testing.B, id, input string) {
	folder, size := codeBase(b)
	set, err := action.New(&agentfile.Agent{}, action.Options{Workspace: folder})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	for b.Loop() {
		if r, err := set.Do(context.Background(), id, input); err != nil || r.Failed {
			b.Fatal(err, r.Observation)
		}
	}
}

func BenchmarkSearchWords(b *testing.B) { benchmark(b, "search", "query: price item") }
func BenchmarkSearchExpression(b *testing.B) {
	benchmark(b, "search", "query: sanitize|escape|prepared")
}
func BenchmarkAnalyzeFacts(b *testing.B) { benchmark(b, "analyze", "target: full") }
func BenchmarkAnalyzeSecurity(b *testing.B) {
	benchmark(b, "analyze", "{target: full, focus: security_patterns}")
}

// BenchmarkFloorRead reads the same files and looks at each byte once.
func BenchmarkFloorRead(b *testing.B) {
	folder, size := codeBase(b)
	b.SetBytes(size)
	for b.Loop() {
		lines := 0
		for i := range 200 {
			data, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("f%d.py", i)))
			if err != nil {
				b.Fatal(err)
			}
			lines += strings.Count(string(data), "\n")
		}
		if lines == 0 {
			b.Fatal("nothing was read")
		}
	}
}
