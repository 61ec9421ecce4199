package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// The kinds of search.
const (
	greedy  = "greedy"
	halving = "halving"
)

// maxCandidates limits the texts that a search tries in a round.
const maxCandidates = 256

// search is a prepared search.
type search struct {
	kind      string
	base      int // index of the variant
	path      string
	template  string
	fragments []fragment
	trials    int
}

type fragment struct {
	name    string
	options []string
}

// choice is an option of each fragment, by index.
type choice []int

// placeholder matches the place of a fragment in a text.
var placeholder = lazyregexp.New(`\{\{\s*([^{}\s]*)\s*\}\}`)

func (s *search) text(c choice) string {
	return placeholder().ReplaceAllStringFunc(s.template, func(match string) string {
		name := placeholder().FindStringSubmatch(match)[1]
		i := slices.IndexFunc(s.fragments, func(f fragment) bool { return f.name == name })
		return s.fragments[i].options[c[i]]
	})
}

// name returns the name of the variant of a choice, such as "role-2.tone-1".
func (s *search) name(c choice) string {
	parts := make([]string, len(c))
	for i, option := range c {
		parts[i] = fmt.Sprintf("%s-%d", s.fragments[i].name, option+1)
	}
	return strings.Join(parts, ".")
}

func (s *search) shown(c choice) map[string]string {
	all := map[string]string{}
	for i, option := range c {
		all[s.fragments[i].name] = s.fragments[i].options[option]
	}
	return all
}

// all returns all choices in order, at most one more than maxCandidates.
func (s *search) all() []choice {
	choices := []choice{{}}
	for _, f := range s.fragments {
		var next []choice
		for _, c := range choices {
			for option := range f.options {
				next = append(next, append(slices.Clone(c), option))
			}
		}
		choices = next[:min(len(next), maxCandidates+1)]
	}
	return choices
}

// around returns c and then the choices that differ from c in one fragment.
func (s *search) around(c choice, at int) []choice {
	all := []choice{c}
	for option := range s.fragments[at].options {
		if option != c[at] {
			other := slices.Clone(c)
			other[at] = option
			all = append(all, other)
		}
	}
	return all
}

// best sorts choices stably by score, the best first and those without a score last.
func best(choices []choice, scores []float64, better result.Direction) []choice {
	order := make([]int, len(choices))
	for i := range order {
		order[i] = i
	}
	key := func(i int) float64 {
		switch {
		case math.IsNaN(scores[i]):
			return math.Inf(1)
		case better == result.Higher:
			return -scores[i]
		default:
			return scores[i]
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(key(a), key(b)) })
	sorted := make([]choice, len(choices))
	for i, o := range order {
		sorted[i] = choices[o]
	}
	return sorted
}

// tuning checks and prepares the search.
func (l *loader) tuning(heldOut []string) {
	t := l.file.Tune
	if t == nil || len(l.variants) < len(l.file.Variants) {
		return
	}
	s := &search{kind: cmp.Or(t.Search, greedy), path: t.Path, trials: t.Trials}
	names := make([]string, len(l.variants))
	for i := range l.variants {
		names[i] = l.variants[i].name
	}
	if s.base = slices.Index(names, t.Base); s.base < 0 {
		l.add("tune.base", suggest.Nearest(t.Base, names), "there is no variant %q", t.Base)
		return
	}
	if l.file.Split == nil {
		l.add("tune", "", "no scenarios are held out, so the found text could not be validated; write split")
		return
	}
	before := len(l.found)
	var err error
	if s.template, err = text(t.Text, l.folder); err != nil {
		l.add("tune.text", "", "%v", err)
	}
	l.fragments(s)
	if len(l.found) == before {
		l.placeholders(s)
	}
	if len(l.found) == before && s.kind == halving && len(s.all()) > maxCandidates {
		l.add("tune.fragments", "", "there are more than %d combinations; leave options out, or write search: greedy", maxCandidates)
	}
	if len(l.found) == before {
		l.candidates(s, heldOut)
	}
	l.search = s
}

// fragments reads the options.
func (l *loader) fragments(s *search) {
	for i, f := range l.file.Tune.Fragments {
		path := fmt.Sprintf("tune.fragments[%d]", i)
		if slices.ContainsFunc(s.fragments, func(other fragment) bool { return other.name == f.Name }) {
			l.add(path+".name", "", "the name %q is used by an earlier fragment", f.Name)
		}
		if len(f.Options) < 2 {
			l.add(path+".options", "", "one option leaves no choice; write at least two")
		}
		is := fragment{name: f.Name}
		for n, option := range f.Options {
			content, err := text(option, l.folder)
			if err != nil {
				l.add(fmt.Sprintf("%s.options[%d]", path, n), "", "%v", err)
			} else if slices.Contains(is.options, content) {
				l.add(fmt.Sprintf("%s.options[%d]", path, n), "", "the option is the same as an earlier one")
			}
			is.options = append(is.options, content)
		}
		s.fragments = append(s.fragments, is)
	}
}

// placeholders checks that text and fragments match.
func (l *loader) placeholders(s *search) {
	var names, used []string
	for _, f := range s.fragments {
		names = append(names, f.name)
	}
	for _, match := range placeholder().FindAllStringSubmatch(s.template, -1) {
		used = append(used, match[1])
		if !slices.Contains(names, match[1]) {
			l.add("tune.text", suggest.Nearest(match[1], names), "the text contains %s, but there is no fragment %q", match[0], match[1])
		}
	}
	for i, name := range names {
		if !slices.Contains(used, name) {
			l.add(fmt.Sprintf("tune.fragments[%d].name", i), "", "the text does not use the fragment %s; write {{%s}} there", name, name)
		}
	}
}

// candidates checks that scenarios are valid with the first text.
func (l *loader) candidates(s *search, heldOut []string) {
	first := s.settings(l.variants[s.base].set, make(choice, len(s.fragments)))
	if part, _, _ := strings.Cut(s.path, "."); !slices.Contains(settable, part) || part == s.path {
		l.add("tune.path", "", "a search can only set keys of %s, not %q", strings.Join(settable, " and "), s.path)
		return
	}
	if _, found := l.varied(first, append(slices.Clone(l.training), heldOut...)); len(found) > 0 {
		l.unfit("tune.path", nil, found)
	}
}

// settings returns those of the base with the text of a choice.
func (s *search) settings(base []setting, c choice) []setting {
	set := slices.DeleteFunc(slices.Clone(base), func(b setting) bool { return b.path == s.path })
	return append(set, setting{path: s.path, value: s.text(c)})
}
