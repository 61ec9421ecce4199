package yamlsrc_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

const placed = `name: a
labels:
  a.b: one
steps:
  - tool: grep
    limit: {matches: x}
  - tool: sed
any: &a
  deep: [1, [2, 3]]
`

var _ = Describe("Document", func() {
	DescribeTable("finds the position of a value",
		func(path string, line, column int) {
			_, doc, found := decode(placed)
			Expect(found).To(BeEmpty())
			place := doc.At(path, "", "")
			Expect([]int{place.Line, place.Column}).To(Equal([]int{line, column}))
		},
		Entry("a scalar: its value", "name", 1, 7),
		Entry("a list: its key", "steps", 4, 1),
		Entry("a mapping: its key", "labels", 2, 1),
		Entry("a quoted key", `labels["a.b"]`, 3, 8),
		Entry("an item", "steps[1]", 7, 5),
		Entry("a key of an item", "steps[0].limit.matches", 6, 22),
		Entry("lists in lists", "any.deep[1][1]", 9, 17),
		Entry("a missing value: the value that should contain it", "steps[1].limit.matches", 7, 5),
		Entry("an index out of range", "steps[9].tool", 4, 1),
		Entry("the whole file", "", 1, 1),
		Entry("a malformed path", `labels["x`, 2, 1),
	)

	It("reports whether a value exists", func() {
		_, doc, _ := decode(placed)
		for path, want := range map[string]bool{
			"": true, "steps[1].tool": true, `labels["a.b"]`: true, "steps[2]": false, "steps[1].limit": false, "name.x": false, "promt": false,
		} {
			Expect(doc.Has(path)).To(Equal(want), path)
		}
	})

	It("has no values if the file could not be parsed", func() {
		_, doc, _ := decode("[")
		place := doc.At("name", "", "")
		Expect([]int{place.Line, place.Column}).To(Equal([]int{0, 0}))
		Expect(doc.Has("name")).To(BeFalse())
		Expect(doc.At("name", "wrong", "").Error()).To(Equal("f.yaml: wrong"))
	})

	It("gives the position of an error that is found later, with a suggestion and an excerpt", func() {
		_, doc, _ := decode(placed)
		d := doc.At("steps[1].tool", `no tool "sed"`, "awk")
		Expect(d.Path).To(Equal("steps[1].tool"))
		Expect(d.Detail()).To(Equal(`f.yaml:7:11: no tool "sed" (did you mean "awk"?)
  7 |   - tool: sed
    |           ^`))
	})
})

var _ = Describe("Diagnostics", func() {
	It("do not send control characters of a file to the terminal", func() {
		_, _, found := decode("name: a\nas: \"\t\x7f\" # \x7f\r\n")
		Expect(found).To(HaveLen(1))
		Expect(found.Render()).To(Equal("f.yaml:2:5: found the text \"\\t\\x7f\"; expected one of openai, socket\n  2 | as: \" �\" # �\n    |     ^\n"))
	})

	It("show the relevant part of a long line", func() {
		long := ""
		for range 50 {
			long += "abcdefghi "
		}
		_, _, found := decode("name: a\nany: [" + long + ", .inf, " + long + "]\n")
		Expect(found.Render()).To(MatchRegexp(`(?m)^  2 \| ….{54}ghi , \.inf.{36}…\n    \| {62}\^$`))
	})

	It("show the lines of a text that is not YAML, without changing diagnostics of YAML", func() {
		_, doc, _ := decode("name: a\nany: b\n")
		bare := yamlsrc.Diagnostics{
			{File: "f.md", Line: 2, Column: 3, Message: "wrong"},
			doc.At("any", "wrong, too", ""),
			{File: "f.md", Line: 4, Column: 1, Message: "last"},
			{File: "f.md", Line: 3, Column: 1, Message: "empty"},
			{File: "f.md", Line: 5, Column: 1, Message: "behind the end"},
			{File: "f.md", Message: "the whole"},
		}
		Expect(bare.In([]byte("# T\r\n- \x1b[1m\r\n\r\n\u00e9")).Render()).To(Equal(`f.md:2:3: wrong
  2 | - �[1m
    |   ^
f.yaml:2:6: wrong, too
  2 | any: b
    |      ^
f.md:4:1: last
  4 | é
    | ^
f.md:3:1: empty
f.md:5:1: behind the end
f.md: the whole
`))
		Expect(bare[0].Detail()).To(Equal("f.md:2:3: wrong"), "the diagnostics themselves must not change")
	})

	It("are sorted by position within each file", func() {
		ds := yamlsrc.Diagnostics{
			{File: "b", Line: 2, Column: 1, Message: "b2"},
			{File: "a", Line: 1, Column: 9, Message: "a1"},
			{File: "b", Line: 1, Column: 5, Message: "b1.5"},
			{File: "b", Line: 1, Column: 2, Message: "b1.2"},
		}
		ds.Sort()
		Expect(ds.Error()).To(Equal("b:1:2: b1.2\nb:1:5: b1.5\nb:2:1: b2\na:1:9: a1"))
		Expect(ds.Err()).To(MatchError(ds))
	})
})

var _ = Describe("Join", func() {
	It("quotes a key that is not a plain word, such that At finds it", func() {
		_, doc, _ := decode("name: a\nlabels:\n  x: one\n  a.b: two\n")
		Expect(yamlsrc.Join("labels", "x")).To(Equal("labels.x"))
		Expect(yamlsrc.Join("labels", "a.b")).To(Equal(`labels["a.b"]`))
		Expect(doc.At(yamlsrc.Join("labels", "a.b"), "", "").Line).To(Equal(4))
	})
})

var _ = DescribeTable("Diagnostics.About", func(at string, want bool) {
	found := yamlsrc.Diagnostics{{Path: "steps[0].limit"}}
	Expect(found.About(at)).To(Equal(want))
},
	Entry("the value", "steps[0].limit", true),
	Entry("a value inside it", "steps[0].limit.matches", true),
	Entry("a value around it", "steps", true),
	Entry("a neighbour", "steps[0].tool", false),
	Entry("a value whose name has the same beginning", "steps[0].limits", false),
)

var _ = Describe("Lines", func() {
	text := `name: x
expect:
  calls: 2
  latency:
    p95: 5s
    max: {a: {b: 1}}
  that:
    - "true"
    - >-
      calls.total
      == 1
  "a.b": 1
backend: &all
  replies: [{text: a}, {text: b}]
other: *all
`
	doc, _ := yamlsrc.Decode("x.yaml", []byte(text), &map[string]any{})

	It("returns the lines of values down to a depth", func() {
		Expect(doc.Lines(100, 2, "expect")).To(Equal(map[string]int{
			"expect": 2, "expect.calls": 3, "expect.latency": 4, "expect.latency.p95": 5, "expect.latency.max": 6,
			"expect.that": 7, "expect.that[0]": 8, "expect.that[1]": 9, `expect["a.b"]`: 12,
		}))
		Expect(doc.Lines(100, 1, "name", "nothing.there", "backend.replies")).To(Equal(map[string]int{
			"name": 1, "backend.replies": 14, "backend.replies[0]": 14, "backend.replies[1]": 14,
		}))
	})

	It("respects its limit and does not follow aliases inside", func() {
		Expect(doc.Lines(2, 2, "expect")).To(Equal(map[string]int{"expect": 2, "expect.calls": 3}))
		Expect(doc.Lines(100, 9, "")).To(And(HaveKeyWithValue("other", 15), HaveKey("backend.replies"), Not(HaveKey("other.replies"))))
	})

	It("returns nothing for a file that could not be parsed", func() {
		broken, _ := yamlsrc.Decode("x.yaml", []byte("a: [1"), &map[string]any{})
		Expect(broken.Lines(100, 2, "a")).To(BeEmpty())
	})
})
