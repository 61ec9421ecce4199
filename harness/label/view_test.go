package label_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/go-json-experiment/json"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/harness/label"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// view returns a view on items.
func view(items ...detect.Item) (*label.View, *label.File) {
	GinkgoHelper()
	var lines strings.Builder
	for _, item := range items {
		line, err := json.Marshal(item)
		Expect(err).NotTo(HaveOccurred())
		lines.Write(append(line, '\n'))
	}
	f := open(folder(lines.String()), filepath.Join(GinkgoT().TempDir(), "mine.ada.jsonl"))
	v := label.NewView(f)
	v.Title = "mine.ada.jsonl"
	return v, f
}

// press presses keys and returns whether the last one quits.
func press(v *label.View, keys ...string) (quit bool) {
	GinkgoHelper()
	for _, key := range keys {
		var err error
		quit, err = v.Press(key)
		Expect(err).NotTo(HaveOccurred())
	}
	return quit
}

func screen(v *label.View) string { return strings.Join(v.Screen(), "\n") + "\n" }

// hostile moves the cursor, sets the title, reverses a line and breaks a terminal's lines.
const hostile = "\x1b[2J\x1b]0;title\x07\r\u202edrow\u0085\x00\ttab\r\nnext\n<script>alert(1)</script> 日本語"

// sample has a long request and a long message.
func sample() []detect.Item {
	var request, text strings.Builder
	for i := range 12 {
		fmt.Fprintf(&request, "%d. Handle the error of step %d, which is described in a sentence that is too long for a line.\n", i, i)
	}
	for i := range 30 {
		fmt.Fprintf(&text, "- [x] step %d\n    with `code`\n", i)
	}
	return []detect.Item{
		{ID: "m1", Text: text.String(), Request: request.String(), Repo: "team/shop", Lang: "en"},
		{ID: "m2", Text: "Terminé. " + strings.Repeat("x", 200)},
		{ID: hostile, Text: hostile, Request: hostile, Repo: hostile, Part: hostile, Lang: hostile},
	}
}

var _ = Describe("the view of a message", func() {
	It("fits a terminal of 80 columns", func() {
		v, _ := view(sample()...)
		golden.Expect("first.txt", []byte(screen(v)))
		press(v, "r", "page-down", "m")
		golden.Expect("scrolled.txt", []byte(screen(v)))
		press(v, "?")
		golden.Expect("labels.txt", []byte(screen(v)))
		press(v, "1", "4")
		golden.Expect("hostile.txt", []byte(screen(v)))
		press(v, "2")
		golden.Expect("done.txt", []byte(screen(v)))
	})

	It("escapes control characters and never exceeds the terminal", func() {
		piece := rapid.SampledFrom([]string{hostile, "word ", "\n", "  ", "日本", strings.Repeat("x", 90), "\x1b[31m", "👩\u200d💻", "e\u0301"})
		text := rapid.Custom(func(rt *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(rt, "pieces"), "") })
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			v, f := view(detect.Item{ID: "a", Text: text.Draw(rt, "text"), Request: text.Draw(rt, "request")})
			defer f.Close()
			width, height := rapid.IntRange(40, 120).Draw(rt, "width"), rapid.IntRange(9, 40).Draw(rt, "height")
			v.Resize(width, height)
			for range rapid.IntRange(0, 5).Draw(rt, "keys") {
				press(v, rapid.SampledFrom([]string{"page-down", "up", "r", "G", "?", "h"}).Draw(rt, "key"))
			}
			lines := v.Screen()
			if len(lines) != height {
				rt.Fatalf("%d lines on %d", len(lines), height)
			}
			for _, line := range lines {
				if console.Width(line) > width || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsGraphic(r) && r != '\u200d' }) {
					rt.Fatalf("%d columns: %q", console.Width(line), line)
				}
			}
		})
	})

	It("shows the whole text line by line", func() {
		var want []string
		for i := range 100 {
			want = append(want, fmt.Sprintf("  line %d", i))
		}
		v, _ := view(detect.Item{ID: "a", Text: strings.ReplaceAll(strings.Join(want, "\n"), "  line", "line")})
		seen := map[string]bool{}
		for range 10 {
			for _, line := range v.Screen() {
				seen[line] = true
			}
			press(v, " ")
		}
		for _, line := range want {
			Expect(seen).To(HaveKey(line))
		}
		press(v, "g")
		Expect(v.Screen()[3]).To(Equal("  line 0"))
	})

	It("labels with one key, and with the confidence that is chosen before", func() {
		v, f := view(sample()...)
		press(v, "1", "l", "3")
		Expect(f.Counts()).To(Equal(map[string]int{"defers": 1, "suggests": 1}))
		Expect(screen(v)).To(ContainSubstring("suggests (low): m2"))
		Expect(screen(v)).To(ContainSubstring("[h high]"), "each message starts with high")
		press(v, "u", "u", "u")
		Expect(f.Counts()).To(BeEmpty())
		Expect(screen(v)).To(ContainSubstring("there is no label to undo"))
		Expect(screen(v)).To(ContainSubstring("message 1: m1"))
	})

	It("quits, and ignores other keys", func() {
		v, f := view(sample()...)
		Expect(press(v, "x", "5", "escape", "\r")).To(BeFalse())
		Expect(f.Counts()).To(BeEmpty())
		Expect(press(v, "1", "1", "1", "1", "u", "q")).To(BeTrue())
		Expect(f.Counts()).To(Equal(map[string]int{"defers": 2}))
	})

	It("shows 10 MB on one line at once", func() {
		v, _ := view(detect.Item{ID: "a", Text: strings.Repeat("word ", 2<<20)})
		Expect(v.Screen()).To(HaveLen(24))
	})
})

var _ = DescribeTable("what a terminal sends are keys",
	func(sent string, want ...string) { Expect(label.Keys([]byte(sent))).To(HaveExactElements(want)) },
	Entry("characters", "1u é", "1", "u", " ", "é"),
	Entry("arrows in either mode", "\x1b[A\x1bOB", "up", "down"),
	Entry("pages", "\x1b[5~\x1b[6~\x1b[H\x1b[4~", "page-up", "page-down", "home", "end"),
	Entry("an unknown sequence is one key, and not its characters", "\x1b[1;2P1", "escape", "1"),
	Entry("escape alone", "\x1b", "escape"),
	Entry("bytes that are not UTF-8", "\xff1", "\uFFFD", "1"),
	Entry("control keys", "\x03", "\x03"),
)
