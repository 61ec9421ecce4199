package text_test

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

var kinds = [...]string{"paragraph", "heading", "item", "table", "code", "quote", "rule"}

// dump writes a document as its blocks, sentences and words, a line for each
// block and sentence.
func dump(d *text.Doc) string {
	var b strings.Builder
	for _, block := range d.Blocks {
		fmt.Fprintf(&b, "%s%s\n", kinds[block.Kind], attributes(block))
		for _, s := range d.Sentences[block.First:block.End] {
			b.WriteString(" ")
			for _, w := range d.Words[s.First:s.End] {
				b.WriteString(word(d, w))
			}
			fmt.Fprintf(&b, " %s\n", [...]string{"/", ".", "?", ":", "…"}[s.Ending])
		}
	}
	return b.String()
}

func attributes(b text.Block) string {
	var out strings.Builder
	add := func(name string, value, none int) {
		if value != none {
			fmt.Fprintf(&out, " %s=%d", name, value)
		}
	}
	add("level", b.Level, 0)
	if b.Ordered {
		add("number", b.Number, -1)
	}
	if b.Box != text.NoBox {
		out.WriteString([...]string{"", " open", " begun", " ticked", " crossed"}[b.Box])
	}
	add("section", b.Section, -1)
	add("lead", b.Lead, -1)
	add("parent", b.Parent, -1)
	return out.String()
}

// word writes a word with a sign for each flag: ^ capital, # digits, , gap, ; line,
// ' linked; an opaque one as its text in brackets.
func word(d *text.Doc, w text.Word) string {
	var b strings.Builder
	b.WriteByte(' ')
	signs := []struct {
		flag text.Flags
		sign string
	}{
		{text.AfterGap, ","},
		{text.AfterLine, ";"},
		{text.Linked, "'"},
		{text.Capital, "^"},
		{text.Digits, "#"},
	}
	for _, s := range signs {
		if w.Flags&s.flag != 0 {
			b.WriteString(s.sign)
		}
	}
	if w.Flags&text.Opaque != 0 {
		fmt.Fprintf(&b, "[%s]", strings.ReplaceAll(d.Raw[w.Start:w.End], "\n", "\\n"))
		return b.String()
	}
	b.WriteString(w.Fold)
	return b.String()
}
