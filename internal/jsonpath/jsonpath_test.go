package jsonpath_test

import (
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/jsonpath"
)

func TestJSONPath(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "internal/jsonpath")
}

func parse(path string) jsonpath.Path {
	GinkgoHelper()
	p, err := jsonpath.Parse(path)
	Expect(err).NotTo(HaveOccurred())
	Expect(p.String()).To(Equal(path))
	return p
}

const chat = `{"id": 9007199254740993, "huge": 12345678901234567890, "ok": true, "none": null, "empty": "",
	"choices": [{"message": {"role": "assistant", "content": "Bonjour «Léa»\n"}}],
	"output": [{"type": "reasoning"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "usage": {"out": 2, "in": 1}}`

var _ = Describe("A JSON path", func() {
	DescribeTable("picks",
		func(path, want string) {
			text, err := parse(path).Text([]byte(chat))
			Expect(err).NotTo(HaveOccurred())
			Expect(text).To(Equal(want))
		},
		Entry("a string as it is", "$.choices[0].message.content", "Bonjour «Léa»\n"),
		Entry("an empty one", "$.empty", ""),
		Entry("by brackets", `$['choices'][0]['message']['role']`, "assistant"),
		Entry("from the end", "$.output[-1].text", "b"),
		Entry("by what is beside it", "$.output[?@.type == 'reasoning'].type", "reasoning"),
		Entry("at any depth", "$..content", "Bonjour «Léa»\n"),
		Entry("a number with all its digits", "$.id", "9007199254740993"),
		Entry("one larger than 64 bits", "$.huge", "12345678901234567890"),
		Entry("a truth", "$.ok", "true"),
		Entry("an object, its members in order", "$.usage", `{"in":1,"out":2}`),
	)

	It("finds nothing where there is nothing", func() {
		for _, path := range []string{"$.reply", "$.none", "$.choices[1].message", "$.choices.message", "$.ok.ok"} {
			_, err := parse(path).Text([]byte(chat))
			Expect(err).To(MatchError(jsonpath.ErrAbsent), path)
		}
	})

	It("selects one value or reports several", func() {
		for _, path := range []string{"$.output[?@.type == 'text'].text", "$.usage.*", "$..text"} {
			_, err := parse(path).Text([]byte(chat))
			Expect(err).To(MatchError(jsonpath.ErrMany), path)
			Expect(err).To(MatchError(ContainSubstring("(here 2)")))
		}
	})

	DescribeTable("reads nothing but JSON",
		func(data string) {
			_, err := parse("$..a").Text([]byte(data))
			Expect(err).To(MatchError(jsonpath.ErrNotJSON))
			Expect(len(err.Error())).To(BeNumerically("<", 200))
		},
		Entry("nothing", ""), Entry("text", "Hello"), Entry("half of it", `{"a": "b`), Entry("two values", `{"a": 1} {"a": 2}`),
		Entry("with a comment", "{\"a\": 1 // one\n}"), Entry("not UTF-8", "{\"a\": \"\xff\"}"),
		Entry("nested without bounds", strings.Repeat(`{"a":`, 1_000_000)+"1"+strings.Repeat("}", 1_000_000)),
	)

	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	DescribeTable("is not evaluated where that would take too long",
		func(path, data string) {
			_, err := parse(path).Text([]byte(data))
			Expect(err).To(MatchError(jsonpath.ErrCost))
			Expect(err).To(MatchError(ContainSubstring("values")))
		},
		Entry("descents in descents", "$..*..*..*..*..[?(@..*)]", deep(60)),
		Entry("a descent on data that is very deep", "$..b", deep(9990)),
		Entry("lists that repeat", "$"+strings.Repeat("[0,0]", 40), strings.Repeat("[", 41)+strings.Repeat("]", 41)),
		Entry("names that repeat", "$"+strings.Repeat("['a','a']", 40), deep(41)),
		Entry("the whole document for each value of it", "$[?$.*[?$.*[?$.* > 1] > 1] > 1]", "["+strings.Repeat("1,", 3000)+"1]"),
	)

	DescribeTable("is evaluated on large data",
		func(path, data string) {
			_, err := parse(path).Text([]byte(data))
			Expect(err).To(SatisfyAny(MatchError(jsonpath.ErrAbsent), MatchError(jsonpath.ErrMany)))
		},
		Entry("of many values", "$..b", "["+strings.Repeat(`{"a":[1,2,3]},`, 20_000)+"1]"),
		Entry("that is deep, by a path without descents", "$.a.a.b", deep(9990)),
		Entry("that is deep, by one descent", "$..b", deep(2000)),
		Entry("by two descents", "$..a..b", "["+strings.Repeat(`{"a":{"c":[1]}},`, 20_000)+"1]"),
		Entry("by a filter with a value of the root's", "$[?@.a == $[0].a].b", "["+strings.Repeat(`{"a":1},`, 2000)+"1]"),
	)

	DescribeTable("is refused where it is none",
		func(path, why string) {
			_, err := jsonpath.Parse(path)
			Expect(err).To(MatchError(ContainSubstring(why)))
			Expect(len(err.Error())).To(BeNumerically("<", 300))
		},
		Entry("nothing", "", "it begins with $"),
		Entry("a name", "reply", "it begins with $, such as $.reply"),
		Entry("an open bracket", "$.a[", `"$.a[" is not a JSON path: `),
		Entry("a blank", "$.a b", "is not a JSON path"),
		Entry("an empty filter", "$[?]", "is not a JSON path"),
		Entry("a script", "$.c[(@.length-1)]", "is not a JSON path"),
		Entry("one without end", "$"+strings.Repeat(".a", 1000), "2001 bytes; at most 1000"),
	)
})

func FuzzText(f *testing.F) {
	for _, path := range []string{"$.reply", "$..a[?@.b > 1].c", "$['a'][1:-1:2]", "$[?length(@.a) > 0]", "$[?@.a =~ /a+/]"} {
		f.Add(path, chat)
	}
	f.Fuzz(func(t *testing.T, path, data string) {
		p, err := jsonpath.Parse(path)
		if err != nil {
			return
		}
		text, err := p.Text([]byte(data))
		if err != nil && text != "" {
			t.Fatalf("%q of %q is %q, error %v", path, data, text, err)
		}
	})
}
