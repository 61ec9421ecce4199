package stop

import (
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// kind is what sort of work the verb of a step names.
type kind uint8

// The kinds of work.
const (
	other kind = iota
	check
	edit
	create
	rebuild
	describe
	deliver
	report
)

// estimates are minutes for simple, moderate and complex work of each kind. They
// are round figures of what a coding agent takes, to order and to sum steps by;
// nothing was measured.
var estimates = map[kind][3]time.Duration{
	other:    {5, 15, 45},
	check:    {2, 5, 15},
	edit:     {5, 15, 45},
	create:   {10, 30, 90},
	rebuild:  {15, 45, 120},
	describe: {5, 15, 40},
	deliver:  {3, 10, 30},
	report:   {1, 2, 5},
}

type weight struct {
	complexity Complexity
	estimate   time.Duration
}

// weigh estimates a step by stated rules. Points: 1 if the work creates, 2 if it
// rebuilds; 1 if it reaches far ("all", "throughout"); 1 for three objects or
// more; 1 if it takes more than 20 words to say. No point is simple, one or two
// are moderate, more are complex.
func (x *extractor) weigh(p piece, description string) weight {
	folded := strings.Fields(text.Fold(description))
	k := x.small.kindOf(folded)
	points := map[kind]int{create: 1, rebuild: 2}[k]
	if slices.ContainsFunc(folded, func(w string) bool { return x.small.wide[w] }) {
		points++
	}
	if x.objects(p) >= 3 {
		points++
	}
	if len(folded) > 20 {
		points++
	}
	level := min((points+1)/2, 2)
	return weight{[]Complexity{Simple, Moderate, Complex}[level], estimates[k][level] * time.Minute}
}

// objects counts what a step is done to: one, and one more for each comma or
// conjunction.
func (x *extractor) objects(p piece) int {
	n := 1
	for i := p.first + 1; i < p.end; i++ {
		if x.small.conjoining[x.doc.Words[i].Fold] || x.gapHas(i, ",") {
			n++
		}
	}
	return n
}

// kindOf is the kind of the first word that has one.
func (s *smallWords) kindOf(folded []string) kind {
	for _, w := range folded[:min(len(folded), 4)] {
		for k, stems := range s.kinds {
			if slices.ContainsFunc(stems, func(stem string) bool { return strings.HasPrefix(w, stem) }) {
				return kind(k)
			}
		}
	}
	return other
}

// orders are phrases of an introduction that say that the order of its list
// counts. Numbers alone do not: they mostly count.
var orders = []string{
	" in order ", " in this order ", " in that order ", " in sequence ", " one after ", " step by step ",
	" dans l ordre ", " dans cet ordre ", " l un apres ", " etape par etape ",
}

// inOrder reports whether a block says that the order of its list counts.
func (x *extractor) inOrder(block int) bool {
	const most = 60 // words
	b := x.doc.Blocks[block]
	said := " "
	for _, s := range x.doc.Sentences[b.First:b.End] {
		for _, w := range x.doc.Words[s.First:min(s.End, s.First+most)] {
			said += w.Fold + " "
		}
		if len(said) > maxDescription {
			break
		}
	}
	return slices.ContainsFunc(orders, func(phrase string) bool { return strings.Contains(said, phrase) })
}

// depend adds the dependencies that words say: "then X" needs the step before it,
// "after X" and "once X" the step that X names, and "before X" makes that step
// need this one. One that would close a circle is left out.
func (x *extractor) depend(list []Step, pieces []piece) {
	d := newDependencies(list)
	for i, p := range pieces {
		if i > 0 && (p.follows || p.chained && pieces[i-1].chained) {
			d.add(i, i-1)
		}
		for _, r := range x.named(p) {
			j := d.find(r.words, i)
			if j < 0 {
				continue
			}
			if r.before {
				d.add(j, i)
			} else {
				d.add(i, j)
			}
		}
	}
	for i := range list {
		slices.Sort(d.needs[i])
		for _, j := range d.needs[i] {
			list[i].DependsOn = append(list[i].DependsOn, list[j].ID)
		}
	}
}

// reference is another step that a step names behind a word of order.
type reference struct {
	words  []string
	before bool
}

// named are the references of a piece: the up to six words behind "after", in its
// sentence from up to ten words before it.
func (x *extractor) named(p piece) []reference {
	const reach, back = 6, 10
	s := x.sentenceOf(p.first)
	var found []reference
	for i := max(s.First, p.first-back); i < p.end && len(found) < 4; i++ {
		w := x.doc.Words[i].Fold
		if !x.small.after[w] && !x.small.before[w] {
			continue
		}
		r := reference{before: x.small.before[w]}
		for _, named := range x.doc.Words[i+1 : max(i+1, min(i+1+reach, s.End))] {
			r.words = append(r.words, named.Fold)
		}
		found = append(found, r)
	}
	return found
}

// sentenceOf is the sentence that a word is in.
func (x *extractor) sentenceOf(word int) text.Sentence {
	i, _ := slices.BinarySearchFunc(x.doc.Sentences, word, func(s text.Sentence, w int) int {
		if s.End <= w {
			return -1
		}
		return 1
	})
	return x.doc.Sentences[i]
}

// dependencies are which steps need which.
type dependencies struct {
	words [][]string // of each step, folded
	needs [][]int
}

func newDependencies(list []Step) *dependencies {
	d := &dependencies{needs: make([][]int, len(list))}
	for _, s := range list {
		d.words = append(d.words, strings.Fields(text.Fold(s.Description)))
	}
	return d
}

// find is the step other than i that words name: the first of those that share
// most of its words of four letters or more, -1 if none shares any.
func (d *dependencies) find(words []string, i int) int {
	found, most := -1, 0
	for j, of := range d.words {
		n := 0
		for _, w := range of {
			if len(w) >= 4 && slices.ContainsFunc(words, func(named string) bool { return strings.HasPrefix(named, w[:4]) }) {
				n++
			}
		}
		if j != i && n > most {
			found, most = j, n
		}
	}
	return found
}

// add makes step i need step j unless j needs i, directly or not.
func (d *dependencies) add(i, j int) {
	if i == j || slices.Contains(d.needs[i], j) || d.reaches(j, i, make([]bool, len(d.needs))) {
		return
	}
	d.needs[i] = append(d.needs[i], j)
}

func (d *dependencies) reaches(from, to int, seen []bool) bool {
	if from == to {
		return true
	}
	if seen[from] {
		return false
	}
	seen[from] = true
	return slices.ContainsFunc(d.needs[from], func(j int) bool { return d.reaches(j, to, seen) })
}
