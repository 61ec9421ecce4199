package action_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

var _ = Describe("transform", Label("R-05"), func() {
	DescribeTable("converts",
		func(from, to, text, want string) {
			folder := workspace("in", text)
			set := open(folder)
			r := do(set, "transform", "{input: in, from: "+from+", to: "+to+", output: out}")
			Expect(r.Failed).To(BeFalse(), r.Observation)
			Expect(r.Read).To(Equal([]string{"in"}))
			Expect(r.Written).To(Equal([]string{"out"}))
			Expect(os.ReadFile(filepath.Join(folder, "out"))).To(BeEquivalentTo(want))
			r = do(set, "transform", "{input: in, from: "+from+", to: "+to+"}")
			Expect(r.Observation).To(HaveSuffix(":\n" + strings.TrimRight(want, "\n")))
		},
		Entry("JSON to YAML, numbers as they were written", "json", "yaml", `{"b": 1.50, "a": [1e3, 12345678901234567890, "007", null, true, "yes"], "c": {}}`,
			"a:\n- 1e3\n- 12345678901234567890\n- '007'\n- null\n- true\n- 'yes'\nb: 1.50\nc: {}\n"),
		Entry("YAML to JSON", "yml", "json", "a: &x {n: 0x10}\nb: *x\nd: 2026-01-02\n", "{\n  \"a\": {\n    \"n\": 16\n  },\n  \"b\": {\n    \"n\": 16\n  },\n  \"d\": \"2026-01-02\"\n}\n"),
		Entry("CSV to JSON, in the order of the header", "csv", "json", "z,a\n\"x, y\",1\n,\"q\"\"\"\n", "[\n  {\n    \"z\": \"x, y\",\n    \"a\": \"1\"\n  },\n  {\n    \"z\": \"\",\n    \"a\": \"q\\\"\"\n  }\n]\n"),
		Entry("a header alone", "csv", "json", "a,b\n", "[]\n"),
		Entry("JSON to CSV", "json", "csv", `[{"b": 1, "a": "x,y"}, {"c": null, "a": true}]`, "a,b,c\n\"x,y\",1,\ntrue,,\n"),
		Entry("a table of Markdown to CSV", "markdown-table", "csv", "# Text\n\n| a | b |\n|:--|--:|\n| x \\| y | `z` |\n|  | 2 |\n\nmore | text\n", "a,b\nx | y,`z`\n,2\n"),
		Entry("CSV to Markdown", "csv", "md", "a,b\nx|y,z\n", "| a | b |\n| --- | --- |\n| x\\|y | z |\n"),
		Entry("lines to JSON", "lines", "json", "one\r\n\ntwo", "[\n  \"one\",\n  \"\",\n  \"two\"\n]\n"),
		Entry("nothing to JSON", "lines", "json", "", "[]\n"),
		Entry("JSON to lines", "json", "lines", `["a", 1, null]`, "a\n1\n\n"),
		Entry("a table to YAML", "csv", "yaml", "a\n1\n", "- a: '1'\n"),
	)

	DescribeTable("reports values that do not fit",
		func(from, to, text, want string) {
			r := do(open(workspace("in", text)), "transform", "{input: in, from: "+from+", to: "+to+", output: out}")
			Expect(r.Rule).To(Equal("bad-content"))
			Expect(r.Observation).To(Equal("bad-content: in " + want))
			Expect(r.Written).To(BeEmpty())
		},
		Entry("no JSON", "json", "yaml", `{"a": [1,]}`, `is not json: invalid character ',' at start of value within "/a" after offset 8`),
		Entry("JSON too deep", "json", "yaml", strings.Repeat("[", 70), "is not json: it is nested deeper than 64 levels"),
		Entry("YAML with a key twice", "yaml", "json", "a: 1\na: 2\n", `is not yaml: 2:1: the key "a" is given twice; first on line 1`),
		Entry("YAML with an alias bomb", "yaml", "json", "a: &a [*a]\n", "is not yaml: 1:4: aliases expand to more than 10000 values; expected fewer aliases of aliases"),
		Entry("YAML with a number that would lose digits", "yaml", "json", "a: [123456789012345678901]\n", "is not yaml: the number 1.2345678901234568e+20 may have lost digits; write it in quotes"),
		Entry("CSV with a column twice", "csv", "json", "a,a\n", `is not csv: column 2 has the name "a", which is empty or there twice`),
		Entry("empty CSV", "csv", "json", "", "is not csv: there is no header"),
		Entry("no table", "markdown", "csv", "a | b\nc | d\n", "is not markdown: there is no table"),
		Entry("a row that is too short", "markdown", "csv", "|a|b|\n|-|-|\n|c|\n", "is not markdown: line 3 has 1 cell; the header has 2"),
		Entry("a value that is no table", "json", "csv", "[1]", "cannot be written as csv: item 1 is not an object"),
		Entry("a table in a table", "json", "csv", `[{"a": [1]}]`, `cannot be written as csv: "a" of item 1 is a list or an object, which no cell can hold`),
		Entry("an empty list", "json", "markdown", "[]", "cannot be written as markdown: only a list of objects, with at least one, makes a table"),
		Entry("lines in a line", "json", "lines", `["a\nb"]`, "cannot be written as lines: item 1 does not fit in a line"),
		Entry("lines in a cell", "csv", "markdown", "a\n\"b\nc\"\n", "cannot be written as markdown: a cell of row 2 has several lines"),
	)

	It("keeps values on the way to YAML and back, and tables on the way to Markdown", func() {
		folder := workspace()
		set := open(folder)
		there := func(t *rapid.T, way []string, text string) string {
			Expect(os.WriteFile(filepath.Join(folder, "x0"), []byte(text), 0o644)).To(Succeed())
			for i := 0; i+1 < len(way); i++ {
				r := do(set, "transform", "{input: x"+string(rune('0'+i))+", from: "+way[i]+", to: "+way[i+1]+", output: x"+string(rune('1'+i))+"}")
				if r.Failed {
					t.Fatalf("%s to %s: %s\n%s", way[i], way[i+1], r.Observation, text)
				}
			}
			data, err := os.ReadFile(filepath.Join(folder, "x"+string(rune('0'+len(way)-1))))
			Expect(err).NotTo(HaveOccurred())
			return string(data)
		}
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			data, err := json.Marshal(anyValue(3).Draw(t, "value"))
			Expect(err).NotTo(HaveOccurred())
			once := there(t, []string{"json", "json"}, string(data))
			if again := there(t, []string{"json", "yaml", "json"}, string(data)); again != once {
				t.Fatalf("%s became %s", once, again)
			}
			rows := rapid.SliceOfN(rapid.SliceOfN(rapid.StringMatching(`[a-z|\\",é]( ?[a-z|,]){0,5}`), 2, 2), 0, 4).Draw(t, "rows")
			table := []map[string]string{{"p": "x", "q": "y"}}
			for _, row := range rows {
				table = append(table, map[string]string{"p": row[0], "q": row[1]})
			}
			data, err = json.Marshal(table)
			Expect(err).NotTo(HaveOccurred())
			once = there(t, []string{"json", "csv", "json"}, string(data))
			if again := there(t, []string{"json", "markdown", "csv", "markdown", "json"}, string(data)); again != once {
				t.Fatalf("%s became %s", once, again)
			}
		})
	})
})

// anyValue generates what JSON can hold.
func anyValue(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 4
		if depth > 0 {
			kinds = 6
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return rapid.SampledFrom([]string{"", "x", "yes", "null", "~", "1", "0x1", "1e3", ".inf", "- a", "a: b", "#c", "\n", "a\nb\n", " s ", "é", "\u2028", "\x01", "---", "2026-01-02", "<<", "'", "\"", "\\", "*a", "&a", "!b", "%"}).Draw(t, "text")
		case 1:
			return rapid.Int64().Draw(t, "int")
		case 2:
			return rapid.Float64Range(-9e15, 9e15).Draw(t, "float")
		case 3:
			return rapid.SampledFrom([]any{nil, true, false}).Draw(t, "word")
		case 4:
			return rapid.SliceOfN(anyValue(depth-1), 0, 3).Draw(t, "list")
		}
		return rapid.MapOfN(rapid.SampledFrom([]string{"a", "yes", "1", "", "<<", "a b", "é", "null", "~", "- "}), anyValue(depth-1), 0, 3).Draw(t, "object")
	})
}
