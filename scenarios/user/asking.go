package user

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// mostWords is the length up to which a sentence is read, from its end; a longer one is data.
const mostWords = 300

// comma stands for the punctuation within a sentence among its words.
const comma = ","

// sentence is a sentence of an answer.
type sentence struct {
	text     string
	words    []string // folded
	question bool
	cues     []cue
}

// cue is a phrase that asks for what follows, between two words.
type cue struct {
	list     list
	from, to int
}

// read returns the sentences of an answer.
func (g *grammar) read(reply string) (all []sentence) {
	for _, text := range sentences(reply) {
		s := sentence{text: text, question: strings.HasSuffix(text, "?")}
		r := textfold.NewReader(text)
		for w, ok := r.Next(); ok; w, ok = r.Next() {
			if len(s.words) > 0 && strings.ContainsAny(w.Gap, ",;:()–—") {
				s.words = append(s.words, comma)
			}
			s.words = append(s.words, string(w.Text))
		}
		s.words = s.words[max(0, len(s.words)-mostWords):]
		for i := 0; i < len(s.words); i++ {
			if n, _ := g.longest(s.words[i:], idle); n > 0 {
				i += n - 1
				continue
			}
			for n, l := range g.at(s.words[i:]) {
				if c := (cue{l, i, i + n}); g.holds(&s, c) {
					s.cues = append(s.cues, c)
				}
			}
		}
		all = append(all, s)
	}
	return all
}

// holds reports whether a phrase asks the user for something: the user shall give or the agent needs, and nothing denies it.
func (g *grammar) holds(s *sentence, c cue) bool {
	clause := s.words[1+lastIndex(s.words[:c.from], func(word string) bool { return word == comma }) : c.from]
	near := clause[max(0, len(clause)-3):]
	holds := false
	switch c.list {
	case give:
		i := lastIndex(near, func(word string) bool { return g.is(word, agent, user) })
		holds = i < 0 || !g.is(near[i], agent) && (i == 0 || !g.is(near[i-1], past))
	case need:
		holds = !g.hasAny(near, person)
	case which:
		holds = s.question || len(clause) <= 2
	case after:
		holds = !s.question
	case lack:
		return !g.hasAny(near, person)
	case have:
		return s.question
	case await:
		return true
	case without:
		return g.hasAny(s.words, denials)
	default: // words
	}
	clause = append(slices.Clip(clause), s.words[c.from:c.to]...)
	return holds && (s.question || !g.hasAny(clause, denials) || g.hasAny(clause, reminders))
}

// asks reports whether an answer asks for a fact by its name, and where: a sentence without the fact itself has the words of
// the name together, and either a phrase that asks for them or hardly any other words.
func (g *grammar) asks(answer []sentence, name, value string) (at int, ok bool) {
	wanted := slices.DeleteFunc(textfold.Fold(name), func(word string) bool { return g.is(word, minor) })
	if len(wanted) == 0 {
		wanted = textfold.Fold(name)
	}
	listed := false // an earlier line asks for a list
	for i := range answer {
		s := &answer[i]
		for from := range s.words {
			n := g.nameAt(s.words[from:], wanted)
			if n > 0 && !containsWhole(s.text, value) && (g.asksAlone(s, from, from+n, listed) ||
				slices.ContainsFunc(s.cues, func(c cue) bool { return g.reaches(s, c, from, from+n) })) {
				return at + from, true
			}
		}
		at += len(s.words)
		listed = listed || endsInColon(s.text) && slices.ContainsFunc(s.cues, func(c cue) bool { return c.list == give || c.list == need })
	}
	return 0, false
}

func endsInColon(text string) bool { return strings.HasSuffix(strings.TrimRight(text, "* _"), ":") }

// asksAlone reports whether a sentence consists of a name and is a question, has a colon or "please", or is in a list.
func (g *grammar) asksAlone(s *sentence, from, to int, listed bool) bool {
	listed = listed || endsInColon(s.text)
	beside, others, thanked := slices.Concat(s.words[:from], s.words[to:]), 0, false
	for i := 0; i < len(beside); {
		skip, l := g.longest(beside[i:], minor, polite, please, idle)
		if skip == 0 && beside[i] != comma {
			others++
		}
		listed, thanked = listed || l == please, thanked || l == idle
		i += max(skip, 1)
	}
	return others == 0 && listed && !thanked || others <= 1 && s.question
}

// reaches reports whether a phrase is about the name between two words.
func (g *grammar) reaches(s *sentence, c cue, from, to int) bool {
	if c.list == after {
		return c.from >= to && c.from <= to+3 && !g.hasAny(s.words[to:c.from], clauses, breaks)
	}
	gap := s.words[min(c.to, from):from]
	if c.to > from || g.hasAny(gap, clauses) {
		return false
	}
	if n, _ := g.longest(s.words[to:], told); n > 0 && c.list == which {
		return false
	}
	if slices.Contains([]list{have, lack, without, await}, c.list) {
		return !slices.ContainsFunc(gap, func(word string) bool { return !g.is(word, minor) })
	}
	return !g.hasAny(gap[1+lastIndex(gap, func(word string) bool { return word == comma || g.is(word, joins) }):], breaks)
}

// nameAt returns how many words at the beginning of a text are a name, with minor words between its own; 0 if they are not.
// A compound may be written as one word or as two.
func (g *grammar) nameAt(words, name []string) (n int) {
	for i := 0; i < len(name); {
		switch {
		case n == len(words):
			return 0
		case same(words[n], name[i]):
			n, i = n+1, i+1
		case i+1 < len(name) && same(words[n], name[i]+name[i+1]):
			n, i = n+1, i+2
		case n+1 < len(words) && same(words[n]+words[n+1], name[i]):
			n, i = n+2, i+1
		case n > 0 && g.is(words[n], minor):
			n++
		default:
			return 0
		}
	}
	return n
}

// same reports whether two words are equal or one is the plural of the other.
func same(a, b string) bool { return a[0] == b[0] && (isPlural(a, b) || isPlural(b, a)) }

// plurals are endings of singulars, each before that of its plural, which is not only a further letter.
var plurals = strings.Fields("y ies f ves fe ves man men child children person people foot feet tooth teeth al aux ail aux")

// isPlural reports whether a word is another one or its plural, in English or French, in British or American spelling.
func isPlural(one, many string) bool {
	one, many = strings.ReplaceAll(one, "our", "or"), strings.ReplaceAll(many, "our", "or")
	for p := range slices.Chunk(plurals, 2) {
		if stem, ok := strings.CutSuffix(one, p[0]); ok && many == stem+p[1] {
			return true
		}
	}
	ending, ok := strings.CutPrefix(many, one)
	return ok && (ending == "" || ending == "s" || ending == "es" || ending == "x" && strings.HasSuffix(one, "u"))
}

// lastIndex returns the index of the last word that fits, or -1.
func lastIndex(words []string, fits func(word string) bool) int {
	for i := len(words) - 1; i >= 0; i-- {
		if fits(words[i]) {
			return i
		}
	}
	return -1
}

// sentences splits a text after each question mark, exclamation mark and full stop before white
// space, and at each line break.
func sentences(text string) (all []string) {
	start := 0
	add := func(end int) {
		if s := strings.TrimSpace(text[start:end]); s != "" {
			all = append(all, s)
		}
		start = end
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\n', c == '?', c == '!':
			add(i + 1)
		case c == '.' && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\t'):
			add(i + 1)
		}
	}
	add(len(text))
	return all
}
