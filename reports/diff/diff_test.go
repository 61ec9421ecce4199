package diff_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/reports/diff"
)

// draw shows a diff as text, with the changed words in brackets.
func draw(d diff.Diff) string {
	var b strings.Builder
	for _, line := range d.Lines {
		b.WriteString(line.Kind.Sign() + " ")
		for _, s := range line.Spans {
			if s.Changed {
				s.Text = "[" + s.Text + "]"
			}
			b.WriteString(s.Text)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func lines(all ...string) string { return strings.Join(all, "\n") + "\n" }

var _ = Describe("Compare", Label("H-05"), func() {
	DescribeTable("shows", func(expected, actual, want string, isJSON bool) {
		d := diff.Compare(expected, actual)
		Expect(draw(d)).To(Equal(want))
		Expect(d.JSON).To(Equal(isJSON))
		Expect(d.Shortened).To(BeFalse())
	},
		Entry("nothing of equal texts", "same", "same", "", false),
		Entry("the words in which a line differs", "It ships on Wednesday, <b>3 May</b>.", "It ships on Thursday, <b>3 May</b>.", lines(
			"- It ships on [Wednesday], <b>3 May</b>.",
			"+ It ships on [Thursday], <b>3 May</b>.",
		), false),
		Entry("no words of lines without anything in common", "abc def", "something else", lines("- abc def", "+ something else"), false),
		Entry("the missing line break at the end", "a\nb\n", "a\nb", lines("  a", "  b", "- "), false),
		Entry("an empty text", "", "a", lines("- ", "+ a"), false),
		Entry("an inserted line", "a\nb", "a\nnew\nb", lines("  a", "+ new", "  b"), false),
		Entry("a text of Windows as any other", "a\r\nb\r\nc", "a\nb\nd", lines("  a", "  b", "- c", "+ d"), false),
		Entry("a member that differs, with what is around it", `{"b": 2, "a": {"x": 1, "y": [1, 2]}}`, `{"a": {"x": 1.0, "y": [1, 3]}, "b": 2}`, lines(
			"  {",
			`    "a": {`,
			`      "x": 1`,
			`      "y": [`,
			"        1",
			"-       2",
			"+       3",
			"      ]",
			"    }",
			`    "b": 2`,
			"  }",
		), true),
		Entry("a missing and an extra key", `{"kept": true, "old": "x"}`, `{"kept": true, "new": null}`, lines(
			"  {", `    "kept": true`, `+   "new": null`, `-   "old": "x"`, "  }",
		), true),
		Entry("an element in the middle of an array", `[{"id":1},{"id":2},{"id":3}]`, `[{"id":1},{"id":3}]`, lines(
			"  [", `    {"id":1}`, `-   {"id":2}`, `    {"id":3}`, "  ]",
		), true),
		Entry("an integer that a float would round", `[9007199254740993]`, `[9007199254740992]`, lines(
			"  [", "-   9007199254740993", "+   9007199254740992", "  ]",
		), true),
		Entry("the words of a text in JSON, without the escapes of HTML", `{"t": "see <a> now & then"}`, `{"t": "see <b> now & then"}`, lines(
			"  {", `-   "t": "see <[a]> now & then"`, `+   "t": "see <[b]> now & then"`, "  }",
		), true),
		Entry("that only the spelling differs", `{"a": 1, "b": 2}`, `{"b":2,"a":1.0}`,
			"… equal as JSON: only white space, the order of keys or the spelling of numbers differs\n", true),
		Entry("broken JSON as text", `{"a": 1}`, `{"a": 1`, lines(`- {"a": 1[}]`, `+ {"a": 1`), false),
		Entry("an object and an array as text", `{}`, `[]`, lines("- {}", "+ []"), false),
	)

	It("folds equal lines that are far from a difference", func() {
		var many []string
		for i := range 30 {
			many = append(many, fmt.Sprint("line ", i))
		}
		before := strings.Join(many, "\n")
		many[15] = "another"
		Expect(draw(diff.Compare(before, strings.Join(many, "\n")))).To(Equal(lines(
			"… 12 equal lines", "  line 12", "  line 13", "  line 14", "- line 15", "+ another", "  line 16", "  line 17", "  line 18",
			"… 11 equal lines",
		)))
	})

	DescribeTable("limits its time and its result", func(expected, actual string) {
		d := diff.Compare(expected, actual)
		Expect(d.Lines).NotTo(BeEmpty())
		Expect(len(d.Lines)).To(BeNumerically("<=", 121))
		Expect(len(draw(d))).To(BeNumerically("<", 1<<20))
	},
		Entry("for texts beyond the limit that begin alike", strings.Repeat("a", 70_000)+"b", strings.Repeat("a", 70_000)+"c"),
		Entry("for many different lines", strings.Repeat("a\n", 30_000), strings.Repeat("b\n", 30_000)),
		Entry("for many different words", strings.Repeat("a ", 30_000), strings.Repeat("b c", 20_000)),
		Entry("for deep JSON", strings.Repeat("[", 9_000)+"1"+strings.Repeat("]", 9_000), strings.Repeat("[", 9_000)+"2"+strings.Repeat("]", 9_000)),
		Entry("for many members", `[`+strings.Repeat(`{"a":1},`, 5_000)+`1]`, `[`+strings.Repeat(`{"b":1},`, 5_000)+`1]`),
		Entry("for a number with a huge exponent", `[1e999999999]`, `[2e999999999]`),
	)

	It("contains both texts whole, whatever they are", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			text := rapid.StringOfN(rapid.RuneFrom([]rune("ab c\n.{[é")), 0, 40, -1)
			expected, actual := text.Draw(t, "expected"), text.Draw(t, "actual")
			d := diff.Compare(expected, actual)
			if expected == actual || d.JSON {
				return
			}
			for _, side := range []struct {
				text  string
				other diff.Kind
			}{{expected, diff.Extra}, {actual, diff.Missing}} {
				rest := strings.Split(side.text, "\n")
				for _, line := range d.Lines {
					switch line.Kind {
					case side.other:
					case diff.Gap:
						var n int
						if _, err := fmt.Sscanf(line.String(), "%d equal line", &n); err != nil {
							t.Fatal(err)
						}
						rest = rest[n:]
					default:
						if line.String() != rest[0] {
							t.Fatalf("%q instead of %q in\n%s", line.String(), rest[0], draw(d))
						}
						rest = rest[1:]
					}
				}
				if len(rest) > 0 {
					t.Fatalf("%q is left of %q", rest, side.text)
				}
			}
		})
	})

	It("shows a difference of JSON values exactly if they differ", func() {
		value := rapid.Custom(func(t *rapid.T) string {
			v := map[string]any{}
			for _, key := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3).Draw(t, "keys") {
				v[key] = rapid.SampledFrom([]any{1, "x", nil, []any{1, 2}, map[string]any{"n": 1}, []any{2}}).Draw(t, "value")
			}
			data, _ := json.Marshal(v)
			return string(data)
		})
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			expected, actual := value.Draw(t, "expected"), value.Draw(t, "actual")
			d := diff.Compare(expected, actual)
			if (len(d.Lines) == 0) != (expected == actual) {
				t.Fatalf("%s and %s:\n%s", expected, actual, draw(d))
			}
			for _, line := range d.Lines {
				if line.Kind == diff.Gap {
					t.Fatalf("a note on %s and %s", expected, actual)
				}
			}
		})
	})
})

func FuzzCompare(f *testing.F) {
	f.Add(`{"a":[1,{"b":2}]}`, `{"a":[1,{"b":3}]}`)
	f.Add("a\nb", "a\nc")
	f.Fuzz(func(t *testing.T, expected, actual string) {
		d := diff.Compare(expected, actual)
		if (len(d.Lines) == 0) != (expected == actual) {
			t.Errorf("%q and %q:\n%s", expected, actual, draw(d))
		}
		if len(d.Lines) > 121 {
			t.Errorf("%d lines", len(d.Lines))
		}
	})
}
