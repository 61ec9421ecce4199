package reflect

import (
	"cmp"
	"slices"
)

// The weights of facts. Two common words are as much as one fact: texts on one
// subject share a word by chance.
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
	start, end := min(first.start, last.start), max(first.end, last.end)
	c.all = append(c.all, citation{c.text[start:end], start, weight})
}

// within reports whether a whole fact was found in a part of the reflection.
func (c *citations) within(start, end int) bool {
	return slices.ContainsFunc(c.all, func(f citation) bool { return f.weight == full && start <= f.start && f.start < end })
}

// heaviest returns the n facts that weigh most, in the order in which they were
// found.
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

// cited finds the facts that a reflection cites.
func (f *facts) cited(said []token, text string) *citations {
	c := &citations{text: text, known: map[string]bool{}}
	phrases := survey(said)
	f.citeNumbers(said, phrases, c)
	named := 0 // the end of the name that was cited last: its words are no more facts
	for i, t := range said {
		p := phrases[t.phrase]
		switch {
		case t.end <= named:
		case t.kind == name:
			if f.citeName(t, p, c) {
				named = t.end
			}
		case p.void() || t.kind != word:
		case t.class == denial:
			f.citeAbsence(said, i, c)
		case t.class == content:
			f.citeWord(t, p, c)
		}
	}
	return c
}

// phrase is what is known of one phrase of a reflection.
type phrase struct {
	// formula says that it praises, or that it tells what the agent did or does next.
	formula bool
	// says counts its names, words of a subject, numbers and denials.
	says int
	// right and wrong count its numbers, by whether the observation shows them.
	right, wrong int
}

// void reports whether a phrase claims what the observation does not show.
func (p phrase) void() bool { return p.wrong > 0 && p.right == 0 }

// survey looks at each phrase; tokens name them by number.
func survey(said []token) []phrase {
	all := make([]phrase, said[len(said)-1].phrase+1)
	read := 0 // up to which byte: a name is read as words, too
	for _, t := range said {
		p := &all[t.phrase]
		formula, again := known().formulas[t.text], t.end <= read
		p.formula = p.formula || formula
		read = max(read, t.end)
		if !formula && !again && (t.kind != word || t.class == content || t.class == denial) {
			p.says++
		}
	}
	return all
}

// citeName weighs a name that both texts have. Where it stands in a formula and
// nothing else is said, it is what the agent was told to look at.
func (f *facts) citeName(t token, p phrase, c *citations) bool {
	if !f.names[t.text] && (t.class != content || !f.content[t.stem]) {
		return false
	}
	weight := full
	if p.formula && p.says < 2 {
		weight = half
	}
	c.add("name "+t.text, t, t, weight)
	return true
}

// few is how many telling words an observation may have for one of them to be a
// fact by itself.
const few = 3

// citeWord weighs a word of a subject. One that both texts have is half a fact, as
// texts on one subject share a word by chance, unless its phrase is no formula and
// says something of it.
func (f *facts) citeWord(t token, p phrase, c *citations) {
	switch {
	case f.names[t.text]:
		f.citeName(t, p, c)
	case !f.content[t.stem]:
	case !p.formula && (len(f.content) <= few || p.says > 1):
		c.add("word "+t.stem, t, t, full)
	default:
		c.add("word "+t.stem, t, t, half)
	}
}

// citeNumbers finds the numbers that are true of the observation, and counts in
// each phrase those that are and those that are not.
func (f *facts) citeNumbers(said []token, phrases []phrase, c *citations) {
	for i, t := range said {
		if t.kind != number {
			continue
		}
		b := around(said, i)
		switch {
		case f.shows(t.text, b):
			last := t
			if len(b.after()) > 0 {
				last = b.first()
			}
			c.add("number "+t.text, t, last, full)
			phrases[t.phrase].right++
		case t.text == "0":
			f.citeAbsence(said, i, c)
		case !b.plans():
			c.wrong = cmp.Or(c.wrong, t.text)
			phrases[t.phrase].wrong++
		}
	}
}

// shows reports whether a number with the words beside it is true of the
// observation.
func (f *facts) shows(value string, b *beside) bool {
	beside, there := f.numbers[value]
	shared := slices.ContainsFunc(b.all(), func(w token) bool { return beside[w.stem] })
	switch {
	case there && (shared || !small(value)):
		return true
	case b.plans():
		return false
	case there && things[b.first().stem]:
		return true
	case value == "0" || len(b.after()) == 0:
		return false
	case f.counts[value] || f.derived[value]:
		return true
	}
	return slices.ContainsFunc(b.after(), func(w token) bool { return value == count(f.stems[w.stem]) })
}

// citeAbsence looks whether what a reflection denies is what the observation
// denies.
func (f *facts) citeAbsence(said []token, i int, c *citations) {
	if f.empty() {
		c.add("empty", said[i], said[i], full)
		return
	}
	b := around(said, i)
	objects := b.all()
	for _, w := range objects {
		if f.absent[w.stem] && (w.class == content || !onlyOutcomes(objects)) {
			c.add("not "+w.stem, said[i], w, full)
			return
		}
	}
	switch {
	case !f.denies || weak(said, i) || len(b.after()) == 0:
	case b.first().class == content && !pronouns[said[i].text]:
		c.add("not "+b.first().stem, said[i], b.first(), full)
	case outcomes[b.first().stem]:
		c.add("nothing", said[i], b.first(), full)
	}
}

// weak reports whether a denial is of a verb ("not checked", "pas vérifié") and
// so may be one of the reflection's own work.
func weak(said []token, i int) bool {
	if said[i].text == "pas" {
		return i+1 == len(said) || said[i+1].text != "de" && said[i+1].text != "d"
	}
	return verbal[said[i].text]
}

var (
	// things are words for whatever is counted, by their stems.
	things = map[string]bool{
		"problem": true, "item": true, "elemen": true, "point": true, "thing": true, "chose": true, "cas": true,
		"found": true, "result": true, "place": true, "endroi": true,
	}
	// pronouns deny without an object behind them: what follows is a verb.
	pronouns = map[string]bool{"nothing": true, "nobody": true, "none": true, "rien": true, "personne": true}
	// verbal are the denials of verbs.
	verbal = map[string]bool{"not": true, "never": true, "neither": true, "nor": true, "cannot": true, "jamais": true, "ni": true}
	// lacks say by themselves that something is not there.
	lacks = map[string]bool{
		"missing": true, "lacks": true, "lacking": true, "absent": true, "absente": true, "absents": true, "absentes": true,
		"empty": true, "vide": true, "vides": true, "manque": true, "manquent": true, "manquant": true, "manquante": true,
		"manquants": true, "manquantes": true, "introuvable": true, "introuvables": true,
	}
	// outcomes are what a search comes to, by their stems.
	outcomes = map[string]bool{"found": true, "match": true, "result": true, "return": true, "renvoi": true, "retour": true}
)

func onlyOutcomes(objects []token) bool {
	return !slices.ContainsFunc(objects, func(w token) bool { return !outcomes[w.stem] })
}
