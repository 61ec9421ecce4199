package yamlsrc_test

import (
	"errors"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// config has a field of every type that occurs in the project's files.
type config struct {
	Name   string             `yaml:"name"`
	Trials int                `yaml:"trials,omitempty" jsonschema:"minimum=1,maximum=9"`
	Small  int8               `yaml:"small,omitempty"`
	Seed   uint64             `yaml:"seed,omitempty"`
	Scale  float64            `yaml:"scale,omitempty"`
	Strict *bool              `yaml:"strict,omitempty"`
	Wait   *quantity.Duration `yaml:"wait,omitempty"`
	Cost   quantity.Money     `yaml:"cost,omitempty"`
	As     string             `yaml:"as,omitempty" jsonschema:"enum=openai,enum=socket"`
	Labels map[string]string  `yaml:"labels,omitempty"`
	Any    any                `yaml:"any,omitempty"`
	Allow  []string           `yaml:"allow,omitempty" jsonschema:"enum=unused,enum=invalid"`
	Steps  []step             `yaml:"steps,omitempty"`
	Text   limit              `yaml:"text,omitempty"`
	Shared `yaml:",inline"`
	Secret string `yaml:"-"`
}

type Shared struct {
	Prompt string `yaml:"prompt,omitempty"`
}

type step struct {
	Tool  string `yaml:"tool"`
	Limit *limit `yaml:"limit,omitempty"`
}

// limit has a short form: a word.
type limit struct {
	Contains string `yaml:"contains,omitempty"`
	Matches  string `yaml:"matches,omitempty"`
}

func (l *limit) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		l.Contains = n.Value
		return nil
	}
	type plain limit
	if err := n.Load((*plain)(l), yaml.WithKnownFields()); err != nil {
		return err
	}
	if l.Contains != "" && l.Matches != "" {
		return errors.New("give one of contains, matches")
	}
	return nil
}

func decode(text string) (config, *yamlsrc.Document, yamlsrc.Diagnostics) {
	var c config
	doc, found := yamlsrc.Decode("f.yaml", []byte(text), &c)
	return c, doc, found
}

var _ = Describe("Decode", func() {
	It("fills every field of a correct file", func() {
		c, _, found := decode(`
name: a
trials: 3
small: -5
seed: 18446744073709551615
scale: 2
strict: false
wait: 1m30s
cost: 0.01 EUR
as: socket
labels: {a.b: "1", c: 2}
any: {list: [1, two, null, 2026-01-02], nested: {1: x}}
steps:
  - {tool: grep, limit: word}
  - &last {tool: sed, limit: {matches: "^x"}}
  - *last
text: {contains: y}
prompt: 42
`)
		Expect(found).To(BeEmpty())
		Expect(found.Err()).ToNot(HaveOccurred())
		Expect(c.Trials).To(Equal(3))
		Expect(c.Small).To(BeEquivalentTo(-5))
		Expect(c.Seed).To(BeEquivalentTo(uint64(1<<64 - 1)))
		Expect(c.Scale).To(Equal(2.0))
		Expect(*c.Strict).To(BeFalse())
		Expect(c.Wait.String()).To(Equal("1m30s"))
		Expect(c.Cost).To(Equal(quantity.Money{Amount: 0.01, Currency: quantity.EUR}))
		Expect(c.As).To(Equal("socket"))
		Expect(c.Labels).To(Equal(map[string]string{"a.b": "1", "c": "2"}))
		Expect(c.Any).To(Equal(map[string]any{
			"list": []any{1, "two", nil, "2026-01-02"}, "nested": map[string]any{"1": "x"},
		}))
		Expect(c.Steps).To(HaveLen(3))
		Expect(c.Steps[0].Limit.Contains).To(Equal("word"))
		Expect(c.Steps[2].Limit.Matches).To(Equal("^x"))
		Expect(c.Prompt).To(Equal("42"))
	})

	It("merges mappings and includes them in the check for missing and duplicate keys", func() {
		c, doc, found := decode("name: a\nlabels: &l {x: one, y: two}\nany: {<<: *l, x: three}\nsteps:\n  - &s {tool: grep}\n  - {<<: *s, limit: w}\n")
		Expect(found).To(BeEmpty())
		Expect(c.Any).To(Equal(map[string]any{"x": "three", "y": "two"}))
		Expect(c.Steps[1].Tool).To(Equal("grep"))
		place := doc.At("steps[1].tool", "", "")
		Expect([]int{place.Line, place.Column}).To(Equal([]int{5, 15}))
	})

	DescribeTable("reports the position, the cause and the nearest word of an error",
		func(text string, want string) {
			_, _, found := decode(text)
			Expect(found.Error()).To(Equal(want))
		},
		Entry("unknown key", "nmae: x\nname: a", `f.yaml:1:1: unknown key "nmae" (did you mean "name"?)`),
		Entry("unknown key, no similar word", "name: a\nsteps:\n  - {tool: x, colour: red}",
			`f.yaml:3:15: unknown key "colour"; expected one of tool, limit`),
		Entry("unknown key of an inlined struct", "name: a\npromt: x", `f.yaml:2:1: unknown key "promt" (did you mean "prompt"?)`),
		Entry("unknown key in a value with a short form", "name: a\ntext: {contain: x}", `f.yaml:2:8: unknown key "contain" (did you mean "contains"?)`),
		Entry("a field without a key", "name: a\nsecret: x", `f.yaml:2:1: unknown key "secret"; expected one of name, trials, small, seed, scale, strict, wait, cost, as, labels, any, allow, steps, text, prompt`),
		Entry("missing key", "trials: 1", `f.yaml:1:1: the key "name" is missing`),
		Entry("missing key in a list", "name: a\nsteps:\n  - limit: x", `f.yaml:3:5: the key "tool" is missing`),
		Entry("duplicate key", "name: a\ntrials: 1\nname: b", `f.yaml:3:1: the key "name" is given twice; first on line 1`),
		Entry("duplicate key deep in a value of any type", "name: a\nany: {x: [{y: 1, y: 2}]}", `f.yaml:2:18: the key "y" is given twice; first on line 2`),
		Entry("text for a number", "name: a\ntrials: many", `f.yaml:2:9: found the text "many"; expected a whole number`),
		Entry("fraction for a whole number", "name: a\ntrials: 1.5", `f.yaml:2:9: found the number 1.5; expected a whole number`),
		Entry("below the minimum", "name: a\ntrials: 0", `f.yaml:2:9: found the number 0; expected at least 1`),
		Entry("above the maximum", "name: a\ntrials: 0xA", `f.yaml:2:9: found the number 0xA; expected at most 9`),
		Entry("out of range", "name: a\nsmall: 128", `f.yaml:2:8: found the number 128; expected a whole number`),
		Entry("negative for an unsigned number", "name: a\nseed: -1", `f.yaml:2:7: found the number -1; expected a whole number of at least 0`),
		Entry("a number that is not finite", "name: a\nscale: .inf", `f.yaml:2:8: found the number .inf; expected a number`),
		Entry("a number that JSON lacks", "name: a\nany: [.NaN]", `f.yaml:2:7: found the number .NaN; expected a number`),
		Entry("text for a boolean", "name: a\nstrict: yes", `f.yaml:2:9: found the text "yes"; expected true or false`),
		Entry("not one of the words", "name: a\nas: opnai", `f.yaml:2:5: found the text "opnai" (did you mean "openai"?)`),
		Entry("not similar to one of the words", "name: a\nas: x", `f.yaml:2:5: found the text "x"; expected one of openai, socket`),
		Entry("an item that is not one of the words", "name: a\nallow: [unused, invlaid]", `f.yaml:2:17: found the text "invlaid" (did you mean "invalid"?)`),
		Entry("a bad duration", "name: a\nwait: 5", `f.yaml:2:7: "5" is not a duration; write a number and a unit, such as "2s", "150ms" or "1h30m"`),
		Entry("a mapping for money", "name: a\ncost: {x: 1}", `f.yaml:2:7: found a mapping; expected text`),
		Entry("a list for a mapping", "name: a\nlabels: [x]", `f.yaml:2:9: found a list; expected a mapping`),
		Entry("text for a list", "name: a\nsteps: x", `f.yaml:2:8: found the text "x"; expected a list`),
		Entry("a list for text", "name: [a]", `f.yaml:1:7: found a list; expected text`),
		Entry("no value", "name: a\ntrials:", `f.yaml:2:8: the value is missing; expected a whole number`),
		Entry("no value for a pointer", "name: a\nwait: ~", `f.yaml:2:7: the value is missing; expected text`),
		Entry("a list as a key", "name: a\nlabels: {[x]: y}", `f.yaml:2:10: found a list as a key; expected text`),
		Entry("a scalar to merge", "name: a\nlabels: {<<: x}", `f.yaml:2:14: found the text "x" to merge; expected a mapping or a list of mappings`),
		Entry("rejected by a value with a short form", "name: a\nsteps:\n  - tool: x\n    limit: {contains: a, matches: b}", `f.yaml:4:12: give one of contains, matches`),
		Entry("columns count characters", "name: a\nlabels: {é: ü, ü: [x]}", `f.yaml:2:19: found a list; expected text`),
		Entry("an empty file", "# nothing\n", `f.yaml: the file is empty; expected a mapping`),
		Entry("not a mapping", "- a\n", `f.yaml:1:1: found a list; expected a mapping`),
		Entry("two documents", "name: a\n---\nname: b\n", `f.yaml:2:1: a second document begins here; expected one document in a file`),
		Entry("a syntax error", "name: a\nsteps: [x\n", `f.yaml:3:1: not valid YAML: while parsing a flow sequence: did not find expected ',' or ']'`),
		Entry("a syntax error in a second document", "name: a\n---\nb: [\n", `f.yaml:4:1: not valid YAML: while parsing a flow node: did not find expected node content`),
		Entry("an unknown alias", "name: *x", `f.yaml:1:7: not valid YAML: unknown anchor 'x' referenced`),
		Entry("not UTF-8", "name: a\nas: é\xff", `f.yaml:2:6: found a byte that is not UTF-8`),
	)

	It("reports all errors at once, in the order of the file", func() {
		_, _, found := decode("nmae: x\nwait: 5\ntrials: x\nsteps:\n  - {tol: x}\n  - {tool: y, limit: {x: 1}}\nas: x\n")
		lines := make([]int, len(found))
		for i, d := range found {
			lines[i] = d.Line
		}
		Expect(lines).To(Equal([]int{1, 1, 2, 3, 5, 5, 6, 7}))
		Expect(found[5].Path).To(Equal("steps[0].tol"))
		Expect(found[6].Path).To(Equal("steps[1].limit.x"))
	})

	It("rejects a file above the size limit before parsing it", func() {
		_, _, found := decode("name: " + strings.Repeat("a", yamlsrc.MaxBytes))
		Expect(found.Error()).To(ContainSubstring("1048582 bytes; at most 1048576 are allowed"))
	})

	It("rejects deep nesting", func() {
		_, _, found := decode("name: a\nany: " + strings.Repeat("[", 100_000))
		Expect(found.Error()).To(ContainSubstring("exceeded max depth of 64"))
		_, _, found = decode("name: a\nany: " + strings.Repeat("[", 50) + strings.Repeat("]", 50))
		Expect(found).To(BeEmpty())
	})

	DescribeTable("rejects aliases that expand to too many values",
		func(text string) {
			_, _, found := decode(text)
			Expect(found).To(HaveLen(1))
			Expect(found[0].Message).To(Equal("aliases expand to more than 10000 values"))
		},
		Entry("billion laughs", bomb("[%s]", "*%s,")),
		Entry("a value that contains itself", "name: a\nany: &a [*a]\n"),
		Entry("a billion merges", bomb("{<<: [%s]}", "*%s,")),
		Entry("a merge of itself", "name: a\nany: &a {<<: *a}\n"),
	)
})

var _ = Describe("Document.Decode", func() {
	type parts struct {
		Name  string               `yaml:"name"`
		Drive map[string]yaml.Node `yaml:"drive"`
	}
	open := func(text string) *yamlsrc.Document {
		var p parts
		doc, found := yamlsrc.Decode("f.yaml", []byte(text), &p)
		Expect(found).To(BeEmpty())
		return doc
	}

	It("decodes a part whose type is known only later", func() {
		var s step
		Expect(open("name: a\ndrive:\n  grep: {tool: x, limit: word}\n").Decode("drive.grep", &s)).To(BeEmpty())
		Expect(s).To(Equal(step{Tool: "x", Limit: &limit{Contains: "word"}}))
	})

	It("decodes an item of a list, an alias and a merged value", func() {
		doc := open("name: a\ndrive:\n  a: &a [{tool: x}, {tool: y}]\n  b: *a\n  c: {<<: {d: {tool: z}}}\n")
		for path, tool := range map[string]string{"drive.a[1]": "y", "drive.b[0]": "x", "drive.c.d": "z"} {
			var s step
			Expect(doc.Decode(path, &s)).To(BeEmpty())
			Expect(s.Tool).To(Equal(tool))
		}
	})

	It("is strict, with positions and paths in the whole file", func() {
		doc := open("name: a\ndrive:\n  grep:\n    tol: x\n    limit: {contains: a, matches: b}\n")
		found := doc.Decode("drive.grep", &step{})
		Expect(found.Error()).To(Equal(`f.yaml:4:5: unknown key "tol" (did you mean "tool"?)
f.yaml:4:5: the key "tool" is missing
f.yaml:5:12: give one of contains, matches`))
		Expect(found[0].Path).To(Equal("drive.grep.tol"))
		Expect(found[2].Path).To(Equal("drive.grep.limit"))
		Expect(found[2].Detail()).To(ContainSubstring("    limit: {contains: a, matches: b}\n"))
	})

	DescribeTable("reports the position of a part that cannot be decoded",
		func(text, path, want string) { Expect(open(text).Decode(path, &step{}).Error()).To(Equal(want)) },
		Entry("no value", "name: a\ndrive:\n  grep:\n", "drive.grep", "f.yaml:3:8: the value is missing; expected a mapping"),
		Entry("missing", "name: a\ndrive: {}\n", "drive.grep", "f.yaml:2:1: the value is missing"),
		Entry("of another type", "name: a\ndrive: {grep: [x]}\n", "drive.grep", "f.yaml:2:15: found a list; expected a mapping"),
	)

	It("limits the expansion of aliases in a part that was not checked before", func() {
		text := strings.Replace(bomb("[%s]", "*%s,"), "any:", "drive:", 1)
		var anything any
		found := open(text).Decode("drive.l9", &anything)
		Expect(found).To(HaveLen(1))
		Expect(found[0].Message).To(Equal("aliases expand to more than 10000 values"))
	})

	It("reports nothing for a document that could not be parsed", func() {
		_, doc, _ := decode("name: [")
		Expect(doc.Decode("name", new(string))).To(BeEmpty())
	})
})

// bomb nests ten aliases of ten aliases, nine levels deep.
func bomb(collection, alias string) string {
	var b strings.Builder
	b.WriteString("name: a\nany:\n  l0: &l0 {x: 1}\n")
	for i := range 9 {
		items := strings.Repeat(fmt.Sprintf(alias, fmt.Sprintf("l%d", i)), 10)
		fmt.Fprintf(&b, "  l%d: &l%d "+collection+"\n", i+1, i+1, items)
	}
	return b.String()
}
