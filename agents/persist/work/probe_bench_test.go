package work_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

// BenchmarkMarkers searches a tree of 1,000 files of 20 KB, beside a walk that only
// reads them.
func BenchmarkMarkers(b *testing.B) {
	dir := b.TempDir()
	text := []byte(strings.Repeat("func f(x int) int { return x + 1 } // nothing to be seen here\n", 320))
	for i := range 1000 {
		at := filepath.Join(dir, fmt.Sprintf("d%d", i%20))
		if err := os.MkdirAll(at, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, fmt.Sprintf("f%d.go", i)), text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("probe", func(b *testing.B) {
		p, err := newProbe(plan.Probe{Markers: []string{"TODO", "FIXME"}, In: []string{"**/*.go"}}, dir, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(1000 * len(text)))
		for b.Loop() {
			if r := p(b.Context()); r.Verdict != plan.Pass {
				b.Fatal(r)
			}
		}
	})
	b.Run("floor", func(b *testing.B) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			b.Fatal(err)
		}
		defer root.Close()
		b.SetBytes(int64(1000 * len(text)))
		for b.Loop() {
			err := fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
				if err == nil && entry.Type().IsRegular() {
					_, err = root.ReadFile(name)
				}
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkTodos reads a list of 10,000 todos.
func BenchmarkTodos(b *testing.B) {
	text := strings.Repeat("- [x] Do the thing that is said here, and then the next one.\n", 10_000)
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "TODO.md"), []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	p, err := newProbe(plan.Probe{File: "TODO.md"}, dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if r := p(b.Context()); r.Verdict != plan.Pass {
			b.Fatal(r)
		}
	}
}
