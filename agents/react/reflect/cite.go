package reflect

import (
	"cmp"
	"slices"
)

// The weights of facts. Two common words weigh as much as one fact, because texts on one
// subject share words by chance.
const (
	full = 1.0
	half = 0.5
)

// citation is a fact that a reflection cites.
type citation struct {
	text   string
	start  int // in the reflection
	weight float64
}

// citations are the facts that a reflection cites, each once.
type citations struct {
	text   string // the reflection
	all    []citation
	known  map[string]bool
	weight float64
	wrong  string // the first number that the observation does not have
}

func (c *citations) add(key string, first, last token, weight float64) {
	if c.known[key] {
		return
	}
	c.known[key] = true
	c.weight += weight
	start, end := min(first.start, last.start), max(first.end, last.end)
	c.all = append(c.all, citation{c.text[start:end], start, weight})
}

// within reports whether a fact of full weight was found in a part of the reflection.
func (c *citations) within(start, end int) bool {
	return slices.ContainsFunc(c.all, func(f citation) bool { return f.weight == full && start <= f.start && f.start < end })
}

// heaviest returns the n heaviest facts; facts of equal weight in the order of the text.
func (c *citations) heaviest(n int) (top []citation) {
	for _, weight := range []float64{full, half} {
		for _, f := range c.all {
			if f.weight == weight && len(top) < n {
				top = append(top, f)
			}
		}
	}
	return top
}

// citedBy returns the facts that the tokens of a reflection cite.
func (f *facts) citedBy(tokens []token, text string) *citations {
	c := &citations{text: text, known: map[string]bool{}}
	phrases := classify(tokens)
	f.citeNumbers(tokens, phrases, c)
	named := 0 // the end of the last cited name, whose words are not further facts
	for i, t := range tokens {
		p := phrases[t.phrase]
		switch {
		case t.end <= named:
		case t.kind == name:
			if f.citeName(t, p, c) {
				named = t.end
			}
		case p.void() || t.kind != word:
		case t.class == denial:
			f.citeAbsence(tokens, i, c)
		case t.class == content:
			f.citeWord(t, p, c)
		}
	}
	return c
}

// phrase describes a phrase of a reflection.
type phrase struct {
	formula bool // it praises, or describes what the agent did or will do
	content int  // number of names, content words, numbers and denials
	// right and wrong count the numbers that the observation has and does not have.
	right, wrong int
}

// void reports whether a phrase has only numbers that the observation does not have.
func (p phrase) void() bool { return p.wrong > 0 && p.right == 0 }

// classify returns the phrases of a reflection by number.
func classify(tokens []token) []phrase {
	all := make([]phrase, tokens[len(tokens)-1].phrase+1)
	done := 0 // the end of the last token: the words of a name are tokens, too
	for _, t := range tokens {
		p := &all[t.phrase]
		formula, again := loadLexicon().formulas[t.text], t.end <= done
		p.formula = p.formula || formula
		done = max(done, t.end)
		if !formula && !again && (t.kind != word || t.class == content || t.class == denial) {
			p.content++
		}
	}
	return all
}

// citeName adds a name that both texts have. In a formula without other content it has half
// weight, because the agent may only repeat the target of its action.
func (f *facts) citeName(t token, p phrase, c *citations) bool {
	if !f.names[t.text] && (t.class != content || !f.content[t.stem]) {
		return false
	}
	weight := full
	if p.formula && p.content < 2 {
		weight = half
	}
	c.add("name "+t.text, t, t, weight)
	return true
}

// few is the number of content words up to which each of an observation's is a whole fact.
const few = 3

// citeWord adds a content word that both texts have. It has half weight, unless its phrase is
// not a formula and has further content.
func (f *facts) citeWord(t token, p phrase, c *citations) {
	switch {
	case f.names[t.text]:
		f.citeName(t, p, c)
	case !f.content[t.stem]:
	case !p.formula && (len(f.content) <= few || p.content > 1):
		c.add("word "+t.stem, t, t, full)
	default:
		c.add("word "+t.stem, t, t, half)
	}
}

// citeNumbers adds the numbers that are true of the observation, and counts the right and
// wrong ones in each phrase.
func (f *facts) citeNumbers(tokens []token, phrases []phrase, c *citations) {
	for i, t := range tokens {
		if t.kind != number {
			continue
		}
		b := around(tokens, i)
		switch {
		case f.shows(t.text, b):
			last := t
			if len(b.after()) > 0 {
				last = b.first()
			}
			c.add("number "+t.text, t, last, full)
			phrases[t.phrase].right++
		case t.text == "0":
			f.citeAbsence(tokens, i, c)
		case !b.plans():
			c.wrong = cmp.Or(c.wrong, t.text)
			phrases[t.phrase].wrong++
		}
	}
}

// shows reports whether a number with its neighbours is true of the observation.
func (f *facts) shows(value string, b *neighbours) bool {
	stems, found := f.numbers[value]
	shared := slices.ContainsFunc(b.all(), func(w token) bool { return stems[w.stem] })
	switch {
	case found && (shared || !small(value)):
		return true
	case b.plans():
		return false
	case found && things[b.first().stem]:
		return true
	case value == "0" || len(b.after()) == 0:
		return false
	case f.counts[value] || f.derived[value]:
		return true
	}
	return slices.ContainsFunc(b.after(), func(w token) bool { return value == countText(f.stems[w.stem]) })
}

// citeAbsence adds a denial that the observation makes, too.
func (f *facts) citeAbsence(tokens []token, i int, c *citations) {
	if f.empty() {
		c.add("empty", tokens[i], tokens[i], full)
		return
	}
	b := around(tokens, i)
	objects := b.all()
	for _, w := range objects {
		if f.absent[w.stem] && (w.class == content || !onlyOutcomes(objects)) {
			c.add("not "+w.stem, tokens[i], w, full)
			return
		}
	}
	switch {
	case !f.denies || deniesVerb(tokens, i) || len(b.after()) == 0:
	case b.first().class == content && !pronouns[tokens[i].text]:
		c.add("not "+b.first().stem, tokens[i], b.first(), full)
	case outcomes[b.first().stem]:
		c.add("nothing", tokens[i], b.first(), full)
	}
}

// deniesVerb reports whether a denial belongs to a verb ("not checked", "pas vérifié"), which
// may describe the reflection's own work.
func deniesVerb(tokens []token, i int) bool {
	if tokens[i].text == "pas" {
		return i+1 == len(tokens) || tokens[i+1].text != "de" && tokens[i+1].text != "d"
	}
	return verbDenials[tokens[i].text]
}

var (
	// things are the stems of general words for counted things.
	things = map[string]bool{
		"problem": true, "item": true, "elemen": true, "point": true, "thing": true, "chose": true, "cas": true,
		"found": true, "result": true, "place": true, "endroi": true,
	}
	// pronouns deny without an object: the word after them is a verb.
	pronouns = map[string]bool{"nothing": true, "nobody": true, "none": true, "rien": true, "personne": true}
	// verbDenials deny verbs.
	verbDenials = map[string]bool{"not": true, "never": true, "neither": true, "nor": true, "cannot": true, "jamais": true, "ni": true}
	// lacks express by themselves that something is missing.
	lacks = map[string]bool{
		"missing": true, "lacks": true, "lacking": true, "absent": true, "absente": true, "absents": true, "absentes": true,
		"empty": true, "vide": true, "vides": true, "manque": true, "manquent": true, "manquant": true, "manquante": true,
		"manquants": true, "manquantes": true, "introuvable": true, "introuvables": true,
	}
	// outcomes are the stems of words for the result of a search.
	outcomes = map[string]bool{"found": true, "match": true, "result": true, "return": true, "renvoi": true, "retour": true}
)

func onlyOutcomes(objects []token) bool {
	return !slices.ContainsFunc(objects, func(w token) bool { return !outcomes[w.stem] })
}
