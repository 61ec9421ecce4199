package action

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/rehearse-dev/rehearse/internal/format"
)

type compareInput struct {
	A        string `yaml:"a"`
	B        string `yaml:"b"`
	Criteria string `yaml:"criteria,omitempty"`
}

// criterion is a way to compare two texts.
type criterion struct {
	names   []string // the first one is offered
	compare func(a, b text) (string, error)
}

var criteria = []criterion{
	{[]string{"lines", "diff", "differences", "content", "différences", "lignes"}, compareLines},
	{[]string{"equal", "equality", "identical", "égalité", "identique"}, compareEqual},
	{[]string{"keys", "structure", "clés"}, compareKeys},
	{[]string{"words", "vocabulary", "mots"}, compareWords},
}

func criteriaNames() []string {
	var all []string
	for _, c := range criteria {
		all = append(all, c.names[0])
	}
	return all
}

// compare compares two files or texts by a criterion, by default by lines.
func (w *work) compare(in compareInput) (string, error) {
	a, err := w.given(in.A)
	if err != nil {
		return "", err
	}
	b, err := w.given(in.B)
	if err != nil {
		return "", err
	}
	if a.name == b.name {
		a.name, b.name = a.name+" (a)", b.name+" (b)"
	}
	by := criteria[0]
	i := slices.IndexFunc(criteria, func(c criterion) bool { return slices.ContainsFunc(c.names, sameWord(in.Criteria)) })
	doubt := ""
	switch {
	case i >= 0:
		by = criteria[i]
	case in.Criteria != "":
		doubt = fmt.Sprintf("the criterion %q is not one of %s; compared by lines\n", clip(in.Criteria), strings.Join(criteriaNames(), ", "))
	}
	text, err := by.compare(a, b)
	return doubt + text, err
}

func compareEqual(a, b text) (string, error) {
	if bytes.Equal(a.data, b.data) {
		return fmt.Sprintf("equal: %s and %s have the same %s, sha256 %s",
			a.name, b.name, format.Plural(len(a.data), "byte"), digest(a.data)), nil
	}
	at := 0
	for at < min(len(a.data), len(b.data)) && a.data[at] == b.data[at] {
		at++
	}
	return fmt.Sprintf("different: %s has %s, sha256 %s; %s has %s, sha256 %s; they differ from line %d on",
		a.name, format.Plural(len(a.data), "byte"), digest(a.data), b.name, format.Plural(len(b.data), "byte"), digest(b.data),
		1+bytes.Count(a.data[:at], []byte("\n"))), nil
}

func compareLines(a, b text) (string, error) {
	d := diff.Diff(a.name, a.data, b.name, b.data)
	if d == nil {
		return compareEqual(a, b)
	}
	_, d, _ = bytes.Cut(d, []byte("\n")) // the command line of diff
	added, removed := 0, 0
	for _, line := range split(d)[2:] { // without the names of the files
		switch {
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return fmt.Sprintf("different: %s only in %s, %s only in %s\n%s",
		format.Plural(removed, "line"), a.name, format.Plural(added, "line"), b.name, d), nil
}

// compareKeys compares the keys of two JSON or YAML documents, at any depth.
func compareKeys(a, b text) (string, error) {
	var keys [2]map[string]bool
	for i, t := range []text{a, b} {
		value, err := decodeData(t.data)
		if err != nil {
			return "", fail(ruleBadContent, "%s is neither JSON nor YAML: %v", t.name, err)
		}
		keys[i] = make(map[string]bool)
		if collectKeys("", value, keys[i]); len(keys[i]) > maxKeys {
			return "", fail(ruleTooMany, "%s has more than %d keys", t.name, maxKeys)
		}
	}
	onlyA, onlyB := missing(keys[0], keys[1]), missing(keys[1], keys[0])
	var s strings.Builder
	if len(onlyA)+len(onlyB) == 0 {
		fmt.Fprintf(&s, "equal: %s and %s have the same %s (values were not compared)", a.name, b.name, format.Plural(len(keys[0]), "key"))
		return s.String(), nil
	}
	s.WriteString("different keys\n")
	heading(&s, "only in "+a.name, listed(onlyA))
	heading(&s, "only in "+b.name, listed(onlyB))
	return s.String(), nil
}

// maxKeys is the largest number of keys to compare.
const maxKeys = 10_000

// collectKeys collects the paths of all keys, at most one more than maxKeys; items of
// lists share one path.
func collectKeys(path string, value any, into map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			if len(into) > maxKeys {
				return
			}
			below := strings.TrimPrefix(path+"."+clip(key), ".")
			into[below] = true
			collectKeys(below, item, into)
		}
	case []any:
		for _, item := range v {
			collectKeys(path+"[]", item, into)
		}
	}
}

// compareWords compares the vocabularies of two texts.
func compareWords(a, b text) (string, error) {
	set := func(t text) map[string]bool {
		all := make(map[string]bool)
		for word := range strings.FieldsFuncSeq(strings.ToLower(string(t.data)), notInWord) {
			all[word] = true
		}
		return all
	}
	inA, inB := set(a), set(b)
	var s strings.Builder
	heading(&s, "words only in "+a.name, listed(missing(inA, inB)))
	heading(&s, "words only in "+b.name, listed(missing(inB, inA)))
	return s.String(), nil
}

// missing returns the keys of a that b does not have, sorted.
func missing(a, b map[string]bool) []string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if !b[key] {
			all = append(all, key)
		}
	}
	return all
}
