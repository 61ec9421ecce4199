package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestConcurrent(t *testing.T) {
	for source, want := range map[string]bool{
		"func f() { go g() }": true,
		"func f() { func() { defer func() { go g() }() }() }":               true,
		"import \"sync\"\nvar mu sync.Mutex":                                true,
		"import \"sync\"\nvar x, mu = sync.OnceValue(f), sync.Mutex{}":      true,
		"import \"sync\"\nvar x, y = sync.OnceValue(f), sync.OnceValues(g)": false,
		"import s \"sync/atomic\"":                                          true,
		"import \"strings\"\nfunc f() { ch <- 1 }":                          false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+source, parser.SkipObjectResolution)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		NewWithT(t).Expect(concurrent(file)).To(Equal(want), source)
	}
}

// TestList checks that each package with tests is in exactly one of the lists that CI runs.
func TestList(t *testing.T) {
	g := NewWithT(t)
	t.Chdir("../..")
	listed := func(args ...string) []string {
		var out bytes.Buffer
		g.Expect(run(args, &out)).To(Succeed())
		return strings.Fields(out.String())
	}
	raced, others := listed(), listed("-not")
	g.Expect(raced).To(ContainElements(HaveSuffix("/rehearse/harness"), HaveSuffix("/clock")))
	g.Expect(others).To(ContainElement(HaveSuffix("/internal/layout")))
	g.Expect(append(listed("-tests", "ginkgo"), listed("-tests", "go")...)).To(ConsistOf(raced))
	g.Expect(append(listed("-not", "-tests", "ginkgo"), listed("-not", "-tests", "go")...)).To(ConsistOf(others))
	packages, err := list()
	g.Expect(err).NotTo(HaveOccurred())
	tested := 0
	for _, p := range packages {
		if p.tested("") {
			tested++
		}
	}
	g.Expect(tested).To(Equal(len(raced) + len(others)))
}
