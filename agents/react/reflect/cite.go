package reflect

import (
	"cmp"
	"slices"
)

// The weights of facts. Two common words are as much as one fact: texts on one
// subject share a word by chance.
const (
	whole = 1.0
	half  = 0.5
)

// citation is a fact that a reflection cites.
type citation struct {
	text   string
	weight float64
}

// citations are all facts that a reflection cites, each once.
type citations struct {
	text   string // the reflection
	all    []citation
	known  map[string]bool
	weight float64
	wrong  string // the first number that the observation does not show
}

func (c *citations) add(key string, first, last token, weight float64) {
	if c.known[key] {
		return
	}
	c.known[key] = true
	c.weight += weight
	c.all = append(c.all, citation{c.text[min(first.start, last.start):max(first.end, last.end)], weight})
}

// heaviest returns the n facts that weigh most, in the order of the text.
func (c *citations) heaviest(n int) []citation {
	all := slices.Clone(c.all)
	slices.SortStableFunc(all, func(a, b citation) int { return cmp.Compare(b.weight, a.weight) })
	return all[:min(n, len(all))]
}

// cited finds the facts that a reflection cites.
func (f *facts) cited(said []token, text string) *citations {
	c := &citations{text: text, known: map[string]bool{}}
	void := f.citeNumbers(said, c)
	within := sentences(said)
	for i, t := range said {
		switch {
		case t.kind == name:
			if f.names[t.text] || f.content[t.stem] && t.stem != "" {
				c.add("name "+t.text, t, t, whole)
			}
		case t.kind == word && t.class == denial:
			f.citeAbsence(said, i, c)
		case t.kind == word && t.class == content && !void[i]:
			f.citeWord(t, within[t.sentence], c)
		}
	}
	return c
}

// few is how many telling words an observation may have for one of them to be a
// fact by itself.
const few = 3

// citeWord weighs a word of a subject. One that both texts have is half a fact, as
// texts on one subject share a word by chance, unless its sentence says something
// of it: it has more to say and is no formula.
func (f *facts) citeWord(t token, s sentence, c *citations) {
	switch {
	case f.names[t.text]:
		c.add("name "+t.text, t, t, whole)
	case !f.content[t.stem]:
	case len(f.content) <= few, !s.formula && s.says > 1:
		c.add("word "+t.stem, t, t, whole)
	default:
		c.add("word "+t.stem, t, t, half)
	}
}

// sentence is what is known of one.
type sentence struct {
	// formula says that it praises, or announces that the work goes on.
	formula bool
	// says counts its words of a subject, its numbers and denials.
	says int
}

// sentences looks at each sentence of a reflection; tokens name them by number.
func sentences(said []token) []sentence {
	all := make([]sentence, said[len(said)-1].sentence+1)
	for i, t := range said {
		s := &all[t.sentence]
		s.formula = s.formula || formulas()[t.text]
		repeated := i > 0 && said[i-1].end == t.end // a name is read as words, too
		if (t.kind == number || t.class == content || t.class == denial) && !repeated {
			s.says++
		}
	}
	return all
}

// citeNumbers finds the numbers that are true of the observation. Void are the
// words beside those that are not: they are not cited, but claimed.
func (f *facts) citeNumbers(said []token, c *citations) (void map[int]bool) {
	void = map[int]bool{}
	for i, t := range said {
		if t.kind != number {
			continue
		}
		b := around(said, i)
		switch {
		case f.shows(t.text, b):
			last := t
			if len(b.after) > 0 {
				last = b.after[0]
			}
			c.add("number "+t.text, t, last, whole)
		case t.text == "0":
			f.citeAbsence(said, i, c)
		case len(b.after) > 0 && b.after[0].class == plan:
		default:
			c.wrong = cmp.Or(c.wrong, t.text)
			for j := i + 1; j < min(len(said), i+1+reach) && said[j].phrase == t.phrase && said[j].kind != number; j++ {
				void[j] = true
			}
		}
	}
	return void
}

// shows reports whether a number with the words beside it is true of the
// observation.
func (f *facts) shows(value string, b beside) bool {
	beside, there := f.numbers[value]
	all := b.all()
	shared := slices.ContainsFunc(all, func(w token) bool { return beside[w.stem] })
	if there && shared {
		return true
	}
	if len(b.after) > 0 && b.after[0].class == plan {
		return false
	}
	if there && (!small(value) || len(all) > 0 && all[0].class == generic) {
		return true
	}
	if value == "0" || len(b.after) == 0 {
		return false
	}
	if f.counts[value] {
		return true
	}
	return slices.ContainsFunc(b.after, func(w token) bool { return value == count(f.stems[w.stem]) })
}

// citeAbsence looks whether what a reflection denies is what the observation
// denies.
func (f *facts) citeAbsence(said []token, i int, c *citations) {
	if f.empty() {
		c.add("empty", said[i], said[i], whole)
		return
	}
	if !f.denies {
		return
	}
	b := around(said, i)
	objects := b.all()
	for _, w := range objects {
		if f.absent[w.stem] && (w.class == content || !onlyOutcomes(objects)) {
			c.add("not "+w.stem, said[i], w, whole)
			return
		}
	}
	switch {
	case weak(said, i) || len(b.after) == 0:
	case b.after[0].class == content && !pronouns[said[i].text]:
		c.add("not "+b.after[0].stem, said[i], b.after[0], whole)
	case outcomes[b.after[0].stem]:
		c.add("nothing", said[i], b.after[0], whole)
	}
}

// pronouns deny without an object behind them: what follows is a verb.
var pronouns = map[string]bool{"nothing": true, "nobody": true, "none": true, "rien": true, "personne": true}

// weak reports whether a denial is of a verb ("not checked", "pas vérifié") and
// so may be one of the reflection's own work.
func weak(said []token, i int) bool {
	switch said[i].text {
	case "not", "never", "neither", "jamais", "ni", "cannot", "nor":
		return true
	case "pas":
		return i+1 == len(said) || said[i+1].text != "de" && said[i+1].text != "d"
	}
	return false
}

// outcomes are what a search comes to, by their stems.
var outcomes = map[string]bool{"find": true, "match": true, "result": true, "return": true, "renvoi": true, "retour": true}

func onlyOutcomes(objects []token) bool {
	return !slices.ContainsFunc(objects, func(w token) bool { return !outcomes[w.stem] })
}
