package layout_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the list of pages in llms.txt")

// llmsParts are the folders of docs in the order of llms.txt, with their headings.
var llmsParts = [][2]string{
	{"start", "Start"}, {"how-to", "How to"}, {"reference", "Reference"}, {"explanation", "Explanation"}, {"figures", "Figures"},
}

// TestLLMs checks that llms.txt lists each page of docs with its title and first sentence; "make golden" writes
// the list anew. What is above the list is written by hand.
func TestLLMs(t *testing.T) {
	const file = "../../llms.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	top, _, _ := strings.Cut(string(data), "\n## ")
	want := top
	listed := 0
	for _, part := range llmsParts {
		pages, err := filepath.Glob("../../docs/" + part[0] + "/*.md")
		if err != nil || len(pages) == 0 {
			t.Fatalf("docs/%s: %d pages, %v", part[0], len(pages), err)
		}
		want += "\n## " + part[1] + "\n\n"
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			title, sentence := opening(string(text))
			if title == "" || sentence == "" {
				t.Errorf("%s begins with no heading and paragraph", page)
			}
			want += fmt.Sprintf("- [%s](docs/%s/%s): %s\n", title, part[0], filepath.Base(page), sentence)
			listed++
		}
	}
	if all, _ := filepath.Glob("../../docs/*/*.md"); len(all) != listed {
		t.Errorf("docs has %d pages, of which %d are in the folders that llms.txt lists", len(all), listed)
	}
	if string(data) == want {
		return
	}
	if !*update {
		t.Fatalf("llms.txt does not list the pages of docs as they are; make golden writes:\n%s", want)
	}
	if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
		t.Error(err)
	}
}

var (
	linkText      = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	firstSentence = regexp.MustCompile(`^(.*?)(?:\.\s|[.:]$)`)
)

// opening returns the title of a page and the first sentence of its first paragraph, without links.
func opening(page string) (title, sentence string) {
	for block := range strings.SplitSeq(page, "\n\n") {
		block = strings.TrimSpace(block)
		if heading, ok := strings.CutPrefix(block, "# "); ok && title == "" {
			title = heading
			continue
		}
		if block == "" || strings.HasPrefix(block, "<!--") {
			continue
		}
		block, _, _ = strings.Cut(block, "\n```")
		text := linkText.ReplaceAllString(strings.Join(strings.Fields(block), " "), "$1")
		if m := firstSentence.FindStringSubmatch(text); m != nil && !strings.ContainsAny(text[:1], "#|<>-") && !strings.HasPrefix(text, "```") {
			sentence = strings.ReplaceAll(m[1], "**", "") + "."
		}
		return title, sentence
	}
	return title, ""
}

// TestOpening shows what counts as the opening of a page.
func TestOpening(t *testing.T) {
	for page, want := range map[string][2]string{
		"# A: `x`\n\nThe file `a.b` has [a\nlink](c.md): here. More.\n": {"A: `x`", "The file `a.b` has a link: here."},
		"# A\n\nLike this:\n```sh\nx. y\n```\n":                         {"A", "Like this."},
		"# A\n\n| a | b |\n":                                            {"A", ""},
		"Text. More.\n":                                                 {"", "Text."},
		"# A\n":                                                         {"A", ""},
	} {
		if title, sentence := opening(page); title != want[0] || sentence != want[1] {
			t.Errorf("%q begins with %q and %q", page, title, sentence)
		}
	}
}
