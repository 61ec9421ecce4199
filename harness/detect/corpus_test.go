package detect_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/detect"
)

// read returns the items and what is wrong with the other lines.
func read(r io.Reader) (items []detect.Item, wrong []error) {
	for item, err := range detect.ReadCorpus(r, "c.jsonl", detect.Messages) {
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		items = append(items, item)
	}
	return items, wrong
}

func ids(items []detect.Item) (ids []string) {
	for _, item := range items {
		ids = append(ids, item.ID)
	}
	return ids
}

var _ = Describe("a corpus", func() {
	It("is read whole", func() {
		items, wrong := read(strings.NewReader(`{"id":"a","text":"Next.","lang":"en","label":"defers","categories":["next_steps"],` +
			`"steps":["one"],"tags":["t"],"confidence":"low","part":"p","repo":"r","note":"n"}`))
		Expect(wrong).To(BeEmpty())
		Expect(items).To(Equal([]detect.Item{{
			ID: "a", Text: "Next.", Lang: "en", Label: detect.Defers, Categories: []string{"next_steps"},
			Steps: []string{"one"}, Tags: []string{"t"}, Confidence: "low", Part: "p", Repo: "r", Note: "n",
		}}))
		Expect(items[0].Positive()).To(BeTrue())
	})

	It("may have a byte order mark, blank lines, any line ends, more keys and no ids", func() {
		items, wrong := read(strings.NewReader("\ufeff{\"text\":\"\",\"label\":\"clean\",\"sha256\":\"00\",\"at\":{\"x\":[1]}}\r\n\r\n  \n" +
			"{\"id\":\"b\",\"text\":\"x\\u0000\",\"label\":\"asks\"}"))
		Expect(wrong).To(BeEmpty())
		Expect(ids(items)).To(Equal([]string{"c.jsonl:1", "b"}))
		Expect(items[1].Text).To(Equal("x\x00"))
	})

	It("may use true and false as labels", func() {
		items, wrong := read(strings.NewReader(`{"id":"a","text":"x","label":true}` + "\n" + `{"id":"b","text":"x","label":false}`))
		Expect(wrong).To(BeEmpty())
		Expect(items[0].Label).To(Equal(detect.Defers))
		Expect(items[1].Label).To(Equal(detect.Clean))
		Expect(items[1].Positive()).To(BeFalse())
	})

	It("may be one of reflections, with labels of their own", Label("R-04"), func() {
		var items []detect.Item
		var wrong []string
		text := `{"id":"a","text":"x","label":"critical"}` + "\n" + `{"id":"b","text":"x","label":true}` + "\n" +
			`{"id":"c","text":"x","label":false}` + "\n" + `{"id":"d","text":"x","label":"clean"}` + "\n" + `{"id":"e","text":"x","label":1}`
		for item, err := range detect.ReadCorpus(strings.NewReader(text), "r.jsonl", detect.Reflections) {
			if err != nil {
				wrong = append(wrong, err.Error())
				continue
			}
			items = append(items, item)
		}
		Expect(items).To(HaveLen(3))
		Expect([]bool{items[0].Positive(), items[1].Positive(), items[2].Positive()}).To(Equal([]bool{false, true, false}))
		Expect(items[1].Label).To(Equal(detect.Complacent))
		Expect(items[2].Label).To(Equal(detect.Critical))
		Expect(wrong).To(Equal([]string{
			`r.jsonl:4: unknown label "clean"; known: complacent, critical`,
			`r.jsonl:5: label must be one of complacent, critical, or true or false`,
		}))
	})

	DescribeTable("continues after a bad line",
		func(line, want string) {
			const good = `{"id":"%s","text":"x","label":"clean"}` + "\n"
			items, wrong := read(strings.NewReader(fmt.Sprintf(good, "a") + line + "\n" + fmt.Sprintf(good, "b")))
			Expect(ids(items)).To(Equal([]string{"a", "b"}))
			Expect(wrong).To(HaveLen(1))
			bad, ok := errors.AsType[*detect.LineError](wrong[0])
			Expect(ok).To(BeTrue())
			Expect(bad.Line).To(Equal(2))
			Expect(wrong[0]).To(MatchError(And(HavePrefix("c.jsonl:2: "), ContainSubstring(want))))
			Expect(wrong[0].Error()).NotTo(ContainSubstring("\n"))
			Expect(len(wrong[0].Error())).To(BeNumerically("<", 500))
		},
		Entry("no JSON", "text: x", "not an item: invalid character"),
		Entry("a torn object", `{"text":"x"`, "unexpected EOF"),
		Entry("two objects", `{"text":"x","label":"clean"}{}`, "after top-level value"),
		Entry("a list", `[1]`, "not an item"),
		Entry("not UTF-8", "{\"text\":\"\xff\",\"label\":\"clean\"}", "invalid UTF-8"),
		Entry("a key twice", `{"text":"x","text":"y","label":"clean"}`, "duplicate object member name"),
		Entry("another type", `{"text":7,"label":"clean"}`, "not an item"),
		Entry("no text", `{"label":"clean"}`, "text is missing"),
		Entry("null for a text", `{"text":null,"label":"clean"}`, "text is missing"),
		Entry("no label", `{"text":"x"}`, "label is missing"),
		Entry("null for a label", `{"text":"x","label":null}`, "label is missing"),
		Entry("an unknown label", `{"text":"x","label":"deferred"}`, `unknown label "deferred"`),
		Entry("a misspelt label", `{"text":"x","label":"defer"}`, `did you mean "defers"`),
		Entry("a label of another type", `{"text":"x","label":1}`, "or true or false"),
		Entry("an unknown category", `{"text":"x","label":"defers","categories":["next_step"]}`, `did you mean "next_steps"`),
		Entry("an unknown confidence", `{"text":"x","label":"defers","confidence":"sure"}`, `unknown confidence "sure"`),
		Entry("an id twice", `{"id":"a","text":"y","label":"clean"}`, `the id "a" is already used in line 1`),
		Entry("escapes of a terminal", `{"text":"x","label":"\u001b[2J\n"}`, `\x1b[2J`),
		Entry("a huge label", `{"text":"x","label":"`+strings.Repeat("z", 1<<20)+`"}`, "unknown label"),
		Entry("deep nesting", `{"text":"x","x":`+strings.Repeat("[", 20_000), "not an item"),
		Entry("17 MB", `{"text":"`+strings.Repeat("x", 17<<20)+`","label":"clean"}`, "16777216 bytes"),
	)

	It("reads a line of 5 MB", func() {
		items, wrong := read(strings.NewReader(`{"text":"` + strings.Repeat("é", 5<<19) + `","label":"clean"}`))
		Expect(wrong).To(BeEmpty())
		Expect(items[0].Text).To(HaveLen(5 << 20))
	})

	It("ends with the error of the reader", func() {
		broken := errors.New("broken")
		items, wrong := read(io.MultiReader(strings.NewReader(`{"text":"x","label":"clean"}`+"\n"), iotest.ErrReader(broken)))
		Expect(items).To(HaveLen(1))
		Expect(wrong).To(HaveExactElements(MatchError(broken)))
		Expect(wrong[0]).To(MatchError(ContainSubstring("read corpus c.jsonl after line 1")))
	})

	It("is read lazily", func() {
		for range detect.ReadCorpus(io.MultiReader(strings.NewReader(`{"text":"x","label":"clean"}`+"\n"), failing{}), "c.jsonl", detect.Messages) {
			break
		}
	})
})

// failing must not be read.
type failing struct{}

func (failing) Read([]byte) (int, error) { panic("read further than asked") }

// endless yields n items of about a kilobyte each.
type endless struct {
	n    int
	at   int
	rest string
}

func (e *endless) Read(p []byte) (int, error) {
	if e.rest == "" {
		if e.at == e.n {
			return 0, io.EOF
		}
		e.at++
		e.rest = fmt.Sprintf(`{"id":"%d","text":"%s","label":"clean"}`+"\n", e.at, strings.Repeat("word ", 200))
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

var _ = It("takes memory only for the ids of a corpus", func() {
	live := func(n int) int {
		var most uint64
		var m runtime.MemStats
		count := 0
		for _, err := range detect.ReadCorpus(&endless{n: n}, "c.jsonl", detect.Messages) {
			Expect(err).NotTo(HaveOccurred())
			if count++; count%(n/4) == 0 {
				runtime.GC()
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
		Expect(count).To(Equal(n))
		return int(most)
	}
	small := live(1_000)
	Expect(live(100_000) - small).To(BeNumerically("<", 8<<20)) // 100 MB of text went by
})

func BenchmarkRead(b *testing.B) {
	line := `{"id":"a","text":"` + strings.Repeat("word ", 400) + `","lang":"en","label":"clean"}` + "\n"
	in := strings.Repeat(strings.Replace(line, `"a"`, `""`, 1), 500)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range detect.ReadCorpus(strings.NewReader(in), "c.jsonl", detect.Messages) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkFloorRead copies the lines.
func BenchmarkFloorRead(b *testing.B) {
	line := `{"id":"a","text":"` + strings.Repeat("word ", 400) + `","lang":"en","label":"clean"}` + "\n"
	in := strings.Repeat(line, 500)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for line := range strings.Lines(in) {
			n += len(strings.Clone(line))
		}
		if n != len(in) {
			b.Fatal(n)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("\ufeff{\"id\":\"a\",\"text\":\"x\",\"label\":\"defers\",\"categories\":[\"next_steps\"]}\n\n{\"text\":\"\",\"label\":true}\r\nx"))
	f.Add([]byte("{\"text\":\"\\ud800\",\"label\":\"asks\"}\n{\"text\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		messages := 0
		for item, err := range detect.ReadMessages(bytes.NewReader(data), "c.jsonl") {
			if err == nil {
				messages++
			}
			if item.Label != "" || item.Confidence != "" || item.Steps != nil {
				t.Fatalf("a message has a label: %+v", item)
			}
		}
		if labelled, _ := read(bytes.NewReader(data)); len(labelled) > messages {
			t.Fatalf("%d labelled items, but %d messages", len(labelled), messages)
		}
		seen := map[string]bool{}
		last, n := 0, 0
		for item, err := range detect.ReadCorpus(strings.NewReader(string(data)), "f", detect.Messages) {
			n++
			if err != nil {
				bad, ok := errors.AsType[*detect.LineError](err)
				if !ok || bad.Line <= last || item.ID != "" {
					t.Fatalf("%v behind line %d, with %+v", err, last, item)
				}
				last = bad.Line
				continue
			}
			if seen[item.ID] || item.ID == "" || item.Label == "" || !utf8.ValidString(item.Text) {
				t.Fatalf("%+v", item)
			}
			seen[item.ID] = true
		}
		if most := strings.Count(string(data), "\n") + 1; n > most {
			t.Fatalf("%d items of %d lines", n, most)
		}
	})
}
