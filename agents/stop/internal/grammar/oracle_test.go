package grammar_test

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// term is a term of a pattern as the oracle reads it: "ka" a word, "<s>" a set,
// ".", ".." and ",", "(" a choice, "[" one that may be absent; "*" behind it.
type term struct {
	sign    string
	choices [][]term
	star    bool
}

var members = map[string][]string{"<s>": {"ka", "kb"}, "<t>": {"kc"}}

func (t term) String() string {
	s := t.sign
	if t.choices != nil {
		var all []string
		for _, c := range t.choices {
			all = append(all, written(c))
		}
		s += strings.Join(all, "|") + map[string]string{"(": ")", "[": "]"}[s]
	}
	if t.star {
		s += " *"
	}
	return s
}

func written(terms []term) string {
	var all []string
	for _, t := range terms {
		all = append(all, t.String())
	}
	return strings.Join(all, " ")
}

func terms(t *rapid.T, depth int) []term {
	signs := []string{"ka", "kb", "kc", "<s>", "<t>", ".", "..", ","}
	if depth > 0 {
		signs = append(signs, "(", "[")
	}
	all := make([]term, rapid.IntRange(1, 3).Draw(t, "terms"))
	for i := range all {
		all[i] = term{sign: rapid.SampledFrom(signs).Draw(t, "sign"), star: rapid.IntRange(0, 4).Draw(t, "star") == 0}
		if all[i].sign == "(" || all[i].sign == "[" {
			for range rapid.IntRange(1, 3).Draw(t, "choices") {
				all[i].choices = append(all[i].choices, terms(t, depth-1))
			}
		}
	}
	return all
}

// at is a place between words; crosses says that a gap may be there.
type at struct {
	word    int
	crosses bool
}

// message is words and whether a comma is before each.
type message struct {
	words  []string
	commas []bool
	first  int // where the phrase begins
}

// over returns the places behind the terms.
func (m *message) over(from []at, terms []term) []at {
	for _, t := range terms {
		to := m.overOne(from, t)
		if t.star {
			to = slices.Concat(from, to, m.overOne(to, t))
		}
		from = to
	}
	return from
}

func (m *message) overOne(from []at, t term) (to []at) {
	switch t.sign {
	case "(", "[":
		if t.sign == "[" {
			to = slices.Clone(from)
		}
		for _, c := range t.choices {
			to = append(to, m.over(from, c)...)
		}
		return to
	case ",":
		for _, a := range from {
			to = append(to, at{a.word, true})
		}
		return to
	case "..":
		for _, a := range from {
			for skip := range 4 {
				if a.word+skip <= len(m.words) {
					to = append(to, at{a.word + skip, true})
				}
			}
		}
		return to
	}
	for _, a := range from {
		if a.word == len(m.words) {
			continue
		}
		w := m.words[a.word]
		free := a.word == m.first || a.crosses || !m.commas[a.word]
		if t.sign == "." || free && (w == t.sign || slices.Contains(members[t.sign], w)) {
			to = append(to, at{word: a.word + 1})
		}
	}
	return to
}

var _ = Describe("the machine", func() {
	It("finds what a search of all patterns at all words finds", func() {
		checked := 0
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			lexicon := "<s>: ka kb\n<t>: kc\n[a]\n"
			var patterns [][]term
			for range rapid.IntRange(1, 3).Draw(t, "patterns") {
				p := terms(t, 2)
				if _, err := grammar.Compile(classes, grammar.Source{Name: "x", Text: lexicon + written(p)}); err == nil {
					patterns = append(patterns, p)
				}
			}
			for _, p := range patterns {
				lexicon += written(p) + "\n"
			}
			g := compiled(grammar.Source{Name: "x", Text: lexicon})
			m := message{words: rapid.SliceOfN(rapid.SampledFrom([]string{"ka", "kb", "kc", "kx"}), 1, 12).Draw(t, "words")}
			s := ""
			for i, w := range m.words {
				m.commas = append(m.commas, i > 0 && rapid.IntRange(0, 4).Draw(t, "comma") == 0)
				if m.commas[i] {
					s += ","
				}
				s += " " + w
			}
			var want []grammar.Hit
			for first := range m.words {
				m.first = first
				best := grammar.Hit{First: int32(first)}
				for k, p := range patterns {
					for _, a := range m.over([]at{{word: first}}, p) {
						if int32(a.word) > best.End {
							best.End, best.Pattern = int32(a.word), int32(k)
						}
					}
				}
				if best.End > best.First && m.words[first] != "kx" {
					want = append(want, best)
				}
			}
			r := text.NewReader(g.Words)
			Expect(scanned(g, 0, r.Read(s))).To(Equal(want), lexicon+s)
			checked += len(want)
		})
		Expect(checked).To(BeNumerically(">", 20))
	})
})
