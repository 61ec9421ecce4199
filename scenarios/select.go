package scenarios

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/scenarios/keyword"
)

// Filter narrows a set of scenarios. A scenario is kept if it satisfies all parts that are set.
type Filter struct {
	// Keyword is an expression over parts of names and tags; see package keyword.
	Keyword string
	// Tags keep the scenarios with one of them.
	Tags []string
	// Files keep the scenarios whose files are among them: paths, folders, or paths in which *
	// stands for any part between slashes.
	Files []string
	// Exclude removes scenarios: names, in which * stands for any part of a name between slashes,
	// or files as in Files.
	Exclude []string
}

// Select returns the scenarios of a set that a filter keeps, in their order. The diagnostics name
// invalid expressions, and parts of the filter that no scenario of the set satisfies: they are
// typing errors. The set that is left may be empty.
func Select(set []Scenario, f Filter) ([]Scenario, Diagnostics) {
	var found Diagnostics
	wrong := func(flag, value, message, nearest string) {
		found = append(found, yamlsrc.Diagnostic{File: flag + " " + value, Message: message, Nearest: nearest})
	}
	expr := keyword.Expr{}
	if f.Keyword != "" {
		var err error
		if expr, err = keyword.Parse(f.Keyword); err != nil {
			wrong("-k", f.Keyword, syntaxMessage(err), "")
		} else {
			unknownWords(set, f.Keyword, expr, wrong)
		}
	}
	unknownTags(set, f.Tags, wrong)
	for _, file := range f.Files {
		if !slices.ContainsFunc(set, func(sc Scenario) bool { return inFile(file, sc.File) }) {
			wrong("--file", file, "no selected scenario is in such a file", suggest.Nearest(file, valuesOf(set, Scenario.file)))
		}
	}
	for _, pattern := range f.Exclude {
		if !slices.ContainsFunc(set, func(sc Scenario) bool { return excluded(pattern, sc) }) {
			wrong("--exclude", pattern, "no selected scenario has that name or file", nearestName(pattern, valuesOf(set, Scenario.name)))
		}
	}
	if len(found) > 0 {
		return nil, found
	}
	var kept []Scenario
	for _, sc := range set {
		if expr.Match(sc.Name, sc.Tags) && f.keeps(sc) {
			kept = append(kept, sc)
		}
	}
	return kept, nil
}

// keeps reports whether the parts of the filter other than the expression keep a scenario.
func (f *Filter) keeps(sc Scenario) bool {
	tagged := len(f.Tags) == 0 || slices.ContainsFunc(sc.Tags, func(tag string) bool { return slices.Contains(f.Tags, tag) })
	filed := len(f.Files) == 0 || slices.ContainsFunc(f.Files, func(file string) bool { return inFile(file, sc.File) })
	return tagged && filed && !slices.ContainsFunc(f.Exclude, func(pattern string) bool { return excluded(pattern, sc) })
}

func (sc Scenario) name() string { return sc.Name }
func (sc Scenario) file() string { return sc.File }

// valuesOf returns a value of each scenario.
func valuesOf(set []Scenario, value func(Scenario) string) []string {
	values := make([]string, len(set))
	for i, sc := range set {
		values[i] = value(sc)
	}
	return values
}

// inFile reports whether a file is the named one, matches its pattern, or is below its folder.
func inFile(pattern, file string) bool {
	pattern = path.Clean(strings.ReplaceAll(pattern, `\`, "/"))
	matched, _ := path.Match(pattern, file) // a malformed pattern matches nothing, which is reported
	return matched || pattern == file || pattern == "." && !path.IsAbs(file) || strings.HasPrefix(file, strings.TrimSuffix(pattern, "/")+"/")
}

func excluded(pattern string, sc Scenario) bool {
	matched, _ := path.Match(pattern, sc.Name)
	return matched || inFile(pattern, sc.File)
}

// unknownTags reports tags that no scenario has.
func unknownTags(set []Scenario, want []string, wrong func(flag, value, message, nearest string)) {
	if len(want) == 0 {
		return
	}
	tags := tagsOf(set)
	for _, tag := range want {
		switch {
		case slices.Contains(tags, tag):
		case len(tags) == 0:
			wrong("--tag", tag, "no selected scenario has any tags", "")
		default:
			wrong("--tag", tag, "no selected scenario has the tag; choose from "+strings.Join(tags, ", "), suggest.Nearest(tag, tags))
		}
	}
}

// tagsOf returns the sorted tags of a set.
func tagsOf(set []Scenario) []string {
	var tags []string
	for _, sc := range set {
		tags = append(tags, sc.Tags...)
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// unknownWords reports the words that an expression demands and that are in no name and no tag.
func unknownWords(set []Scenario, text string, expr keyword.Expr, wrong func(flag, value, message, nearest string)) {
	for _, word := range expr.Words() {
		if slices.ContainsFunc(set, func(sc Scenario) bool { return contains(sc, word) }) {
			continue
		}
		var parts []string
		for _, text := range append(valuesOf(set, Scenario.name), tagsOf(set)...) {
			parts = append(parts, text)
			parts = append(parts, strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("/-._", r) })...)
		}
		slices.Sort(parts)
		message := fmt.Sprintf("%q is in no name and no tag of the selected scenarios", word)
		wrong("-k", text, message, suggest.Nearest(word, slices.Compact(parts)))
	}
}

func contains(sc Scenario, word string) bool {
	in := func(text string) bool { return strings.Contains(strings.ToLower(text), word) }
	return in(sc.Name) || slices.ContainsFunc(sc.Tags, in)
}

// syntaxMessage returns the message of an invalid expression with its place.
func syntaxMessage(err error) string {
	if wrong, ok := errors.AsType[*keyword.SyntaxError](err); ok {
		return fmt.Sprintf("%s (at character %d); write for example: refund and not (slow or live)", wrong.Message, wrong.Column)
	}
	return err.Error()
}
