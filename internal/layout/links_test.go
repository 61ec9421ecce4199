package layout_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// TestLinks checks that each relative link of a page leads to a file, and its anchor to a heading.
func TestLinks(t *testing.T) {
	pages := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := entry.Name(); {
		case entry.IsDir() && (name == ".git" || name == "node_modules" || name == "testdata" || name == "fixtures" || name == "rehearse-runs" || name == "scenarios"):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".md":
			return nil
		}
		pages++
		data, err := os.ReadFile(path)
		for _, problem := range brokenLinks(path, string(data), os.ReadFile) {
			t.Error(problem)
		}
		return err
	})
	if err != nil || pages < 30 {
		t.Errorf("%d pages: %v", pages, err)
	}
}

// TestLinksRefuses shows that the check can fail.
func TestLinksRefuses(t *testing.T) {
	read := func(path string) ([]byte, error) {
		if path == "docs/b.md" {
			return []byte("# A heading: `x`, *y*\n"), nil
		}
		return nil, fs.ErrNotExist
	}
	got := brokenLinks("docs/a.md", "[1](b.md) [2](b.md#a-heading-x-y) [3](https://x.example/none) [4](b.md#none) [5](none.md)\n```\n[6](none.md)\n```\n", read)
	if len(got) != 2 || !strings.Contains(got[0], "none") || !strings.Contains(got[1], "none.md") {
		t.Errorf("found %q", got)
	}
}

var (
	linkTo  = regexp.MustCompile(`\]\(([^)\s#]*)(?:#([^)\s]+))?\)`)
	fenced  = regexp.MustCompile("(?ms)^( *)```.*?^ *```$")
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	inCode  = regexp.MustCompile("`[^`\n]*`")
)

// brokenLinks returns the links of a page that lead nowhere.
func brokenLinks(page, text string, read func(string) ([]byte, error)) (problems []string) {
	text = inCode.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
	for _, link := range linkTo.FindAllStringSubmatch(text, -1) {
		target, anchor := link[1], link[2]
		if strings.Contains(target, ":") {
			continue
		}
		path := page
		if target != "" {
			path = filepath.Join(filepath.Dir(page), target)
		}
		if filepath.Ext(path) != ".md" {
			if _, err := os.Stat(path); err != nil {
				problems = append(problems, page+": there is no "+target)
			}
			continue
		}
		data, err := read(path)
		if err != nil {
			problems = append(problems, page+": there is no "+target)
			continue
		}
		if anchor != "" && !hasHeading(string(data), anchor) {
			problems = append(problems, page+": "+path+" has no heading #"+anchor)
		}
	}
	return problems
}

// hasHeading reports whether a page has a heading with an anchor, as code hosts make them.
func hasHeading(text, anchor string) bool {
	for _, h := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(h[1]) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				b.WriteRune(r)
			}
		}
		if b.String() == anchor {
			return true
		}
	}
	return false
}

// TestIndexes checks that the README of a folder of docs has a link to each page beside it.
func TestIndexes(t *testing.T) {
	indexes, err := filepath.Glob("../../docs/*/README.md")
	if err != nil || len(indexes) < 3 {
		t.Fatalf("%d indexes: %v", len(indexes), err)
	}
	for _, index := range indexes {
		text, err := os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		pages, err := filepath.Glob(filepath.Join(filepath.Dir(index), "*.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			if name := filepath.Base(page); name != "README.md" && !strings.Contains(string(text), "]("+name+")") {
				t.Errorf("%s has no link to %s", index, name)
			}
		}
	}
}
