package action

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// shown is the largest number of findings in an observation.
const shown = 100

type analyzeInput struct {
	Target string `yaml:"target"`
	Focus  string `yaml:"focus,omitempty"`
}

// analyze reports facts about a file or folder, and the findings of a focus.
func (w *work) analyze(in analyzeInput) (string, error) {
	l, err := w.scope(in.Target)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	l.facts(&b, in.Target)
	if err := w.focus(&b, l, strings.TrimSpace(in.Focus)); err != nil {
		return "", err
	}
	l.remarks(&b)
	return b.String(), nil
}

// focus writes the findings of a focus in a scope.
func (w *work) focus(b *strings.Builder, l look, name string) error {
	limits := lineRange().FindStringSubmatch(name)
	known, isKnown := focusOf(name)
	switch is := sameWord(name); {
	case limits != nil || slices.ContainsFunc(contentNames, is):
		from, to := span(limits)
		b.WriteString(strings.Join(numbered(l.texts, from, to), "\n") + "\n")
		return nil
	case slices.ContainsFunc(structureNames, is) || name == "" && !l.folder:
		heading(b, "parts", parts(l.texts))
		return nil
	case name == "":
		heading(b, "files", listed(sizes(l.texts)))
		return nil
	}
	if isKnown {
		found, err := w.lines(l.texts, known.signs())
		if err == nil {
			heading(b, "lines that look like "+known.names[0]+" (patterns on lines; comments and strings are not told apart)", found)
		}
		return err
	}
	fmt.Fprintf(b, "the focus %q is not one of %s; its words are looked for\n", clip(name), strings.Join(focusNames(), ", "))
	q := words(name)
	found, err := w.lines(l.texts, []sign{q.sign})
	if err == nil {
		heading(b, "lines with "+q.about, found)
	}
	return err
}

// facts writes the number of files, lines and bytes, and the languages.
func (l look) facts(b *strings.Builder, target string) {
	type share struct {
		name         string
		files, lines int
	}
	var shares []share
	lines, size := 0, 0
	for _, t := range l.texts {
		n := len(t.lines())
		lines += n
		size += len(t.data)
		name := languageOf(t.name).name
		i := slices.IndexFunc(shares, func(s share) bool { return s.name == name })
		if i < 0 {
			i = len(shares)
			shares = append(shares, share{name: name})
		}
		shares[i].files++
		shares[i].lines += n
	}
	slices.SortStableFunc(shares, func(a, b share) int {
		if a.lines != b.lines {
			return b.lines - a.lines
		}
		return strings.Compare(a.name, b.name)
	})
	fmt.Fprintf(b, "%s: %s, %s, %s\n",
		clip(target), format.Plural(len(l.texts), "file"), format.Plural(lines, "line"), format.Plural(size, "byte"))
	var all []string
	for _, s := range shares {
		all = append(all, fmt.Sprintf("%s %s in %s", s.name, format.Plural(s.lines, "line"), format.Plural(s.files, "file")))
	}
	if len(all) > 0 {
		fmt.Fprintf(b, "languages by extension: %s\n", strings.Join(all, "; "))
	}
}

// remarks lists the files and folders that were skipped.
func (l look) remarks(b *strings.Builder) {
	if len(l.passed) > 0 {
		heading(b, "passed over", listed(l.passed))
	}
}

func listed(lines []string) findings { return findings{lines[:min(len(lines), shown)], len(lines)} }

// heading writes a title with the number of findings, and the findings up to the limit.
func heading(b *strings.Builder, title string, f findings) {
	if f.total == 0 {
		fmt.Fprintf(b, "%s: none\n", title)
		return
	}
	fmt.Fprintf(b, "%s: %d\n", title, f.total)
	for _, line := range f.lines {
		b.WriteString(line + "\n")
	}
	if more := f.total - len(f.lines); more > 0 {
		fmt.Fprintf(b, "… %d more\n", more)
	}
}

// parts returns the functions, types and headings of texts.
func parts(texts []text) findings {
	var all findings
	for _, t := range texts {
		l := languageOf(t.name)
		for i, line := range t.lines() {
			if name := l.part(line); name != "" {
				all.add(t.name, i+1, name)
			}
		}
	}
	return all
}

// span returns a range of lines: all, one, or from one to another.
func span(limits []string) (from, to int) {
	if limits == nil {
		return 1, math.MaxInt
	}
	from, _ = strconv.Atoi(limits[1]) // at most seven digits
	if to, _ = strconv.Atoi(limits[2]); limits[2] == "" {
		to = from
	}
	return from, to
}

// numbered returns the lines of texts in a range, unchanged.
func numbered(texts []text, from, to int) []string {
	var all []string
	for _, t := range texts {
		for i, line := range t.lines() {
			if n := i + 1; from <= n && n <= to {
				all = append(all, fmt.Sprintf("%s:%d: %s", sanitize.Line(t.name, 0), n, line))
			}
		}
	}
	if len(all) == 0 {
		return []string{"there are no such lines"}
	}
	return all
}

func sizes(texts []text) []string {
	var all []string
	for _, t := range texts {
		all = append(all, fmt.Sprintf("%s: %s, %s", t.name, format.Plural(len(t.lines()), "line"), languageOf(t.name).name))
	}
	return all
}

// at formats a line of a file as a finding.
func at(name string, line int, text string) string {
	return fmt.Sprintf("%s:%d: %s", sanitize.Line(name, 0), line, sanitize.Line(text, maxLine))
}
