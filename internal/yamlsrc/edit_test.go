package yamlsrc_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

const edited = `# What this is.

# The name.
name: one # and why
tags: [a, "b"]
expect: # what must hold
  status: done
  that:
    - a == 1 # first
backend:
  replies:
    - {file: x.txt, latency: 1s}
    - text: |
        two
        lines
shared: &s {file: y.txt}
use: *s
`

var _ = Describe("Edit", func() {
	edit := func(changes ...yamlsrc.Change) string {
		GinkgoHelper()
		data, err := yamlsrc.Edit([]byte(edited), changes)
		Expect(err).NotTo(HaveOccurred())
		return string(data)
	}

	It("keeps order, comments and styles", func() {
		Expect(edit()).To(Equal(edited))
		Expect(edit(yamlsrc.Change{Path: "name", Value: "two"})).To(Equal(strings.Replace(edited, "name: one", "name: two", 1)))
	})

	It("removes, renames, replaces and adds keys", func() {
		got := edit(
			yamlsrc.Change{Path: "tags"},
			yamlsrc.Change{Path: "expect", Key: "perturb", Value: []string{"call=1:timeout"}},
			yamlsrc.Change{Path: "backend.replies[0].file", Key: "text", Value: "one\nmore\n"},
			yamlsrc.Change{Path: "seed", Value: 7},
		)
		Expect(got).NotTo(ContainSubstring("tags"))
		Expect(got).NotTo(ContainSubstring("status"))
		Expect(got).To(ContainSubstring("perturb: # what must hold\n  - call=1:timeout\nbackend:"))
		Expect(got).To(ContainSubstring(`- {text: "one\nmore\n", latency: 1s}`))
		Expect(got).To(HaveSuffix("use: *s\nseed: 7\n"))
	})

	It("adds keys and the mappings around them, also in lists", func() {
		got := edit(
			yamlsrc.Change{Path: "expect.cost.at_most", Value: "1 EUR", Make: true},
			yamlsrc.Change{Path: "backend.replies[1].text", Value: "three", Make: true},
			yamlsrc.Change{Path: "name", Value: "two", Make: true},
		)
		Expect(got).To(ContainSubstring("    - a == 1 # first\n  cost:\n    at_most: 1 EUR\nbackend:"))
		Expect(got).To(ContainSubstring("- text: three\n"))
		Expect(got).To(ContainSubstring("name: two # and why\n"))
		_, err := yamlsrc.Edit([]byte(edited), []yamlsrc.Change{{Path: "name.first", Value: 1, Make: true}})
		Expect(err).To(MatchError(ContainSubstring(`has no "first"`)))
		_, err = yamlsrc.Edit([]byte(edited), []yamlsrc.Change{{Path: "tags[5]", Value: 1, Make: true}})
		Expect(err).To(MatchError(ContainSubstring(`has no "5"`)))
	})

	It("adds a key in one place even if aliases share its value", func() {
		Expect(edit(yamlsrc.Change{Path: "use.file", Value: "z.txt", Make: true})).
			To(HaveSuffix("shared: {file: y.txt}\nuse: {file: z.txt}\n"))
		data, err := yamlsrc.Edit([]byte("base: &b {c: {d: 1}}\na:\n  <<: *b\n"), []yamlsrc.Change{{Path: "a.c.d", Value: 2, Make: true}})
		Expect(err).NotTo(HaveOccurred())
		Expect(string(data)).To(Equal("base: {c: {d: 1}}\na:\n  <<: {c: {d: 1}}\n  c: {d: 2}\n"))
	})

	It("fails if aliases expand to too many values", func() {
		var bomb strings.Builder
		bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
		for i := 1; i < 8; i++ {
			bomb.WriteString(strings.NewReplacer("M", string(rune('0'+i)), "N", string(rune('0'+i-1))).Replace("aM: &aM [*aN, *aN, *aN, *aN, *aN, *aN, *aN, *aN, *aN]\n"))
		}
		_, err := yamlsrc.Edit([]byte(bomb.String()), []yamlsrc.Change{{Path: "k", Value: 1, Make: true}})
		Expect(err).To(MatchError(ContainSubstring("more than 10000 values")))
		_, err = yamlsrc.Edit([]byte("a: &a {b: *a}\n"), []yamlsrc.Change{{Path: "k", Value: 1, Make: true}})
		Expect(err).To(HaveOccurred())
	})

	It("ignores missing values", func() {
		Expect(edit(
			yamlsrc.Change{Path: "nothing"}, yamlsrc.Change{Path: "name.first", Value: 1}, yamlsrc.Change{Path: "backend.replies[9].file", Value: 1},
			yamlsrc.Change{Path: "backend.rules[0].file", Value: 1}, yamlsrc.Change{Path: "name[0]"}, yamlsrc.Change{Path: "", Value: 1},
		)).To(Equal(edited))
	})

	It("changes the value of an alias", func() {
		Expect(edit(yamlsrc.Change{Path: "use.file", Value: "z.txt"})).To(ContainSubstring("shared: &s {file: z.txt}"))
	})

	It("rejects invalid documents", func() {
		_, err := yamlsrc.Edit([]byte("a: [\n"), nil)
		Expect(err).To(HaveOccurred())
		_, err = yamlsrc.Edit([]byte("a: 1\n---\nb: 2\n"), nil)
		Expect(err).To(HaveOccurred())
	})
})
