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

var kindNames = []string{"other", "check", "edit", "create", "rebuild", "describe", "deliver", "report"}

// estimates are minutes for simple, moderate and complex work of each kind. They
// are round figures of what a coding agent takes, to order and to sum steps by;
// nothing was measured.
var estimates = [...][3]time.Duration{
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
func (x *extractor) weigh(p piece) weight {
	const long, objects = 20, 3
	k, points := x.kindOf(p), 0
	switch k {
	case create:
		points = 1
	case rebuild:
		points = 2
	default:
	}
	far, several := false, 1
	for i := p.first; i < p.end; i++ {
		far = far || x.is(i, wide)
		if i > p.first && (x.is(i, conjoining) || x.gapHas(i, ",")) {
			several++
		}
	}
	for _, counts := range []bool{far, several >= objects, p.end-p.first > long} {
		if counts {
			points++
		}
	}
	level := min((points+1)/2, 2)
	return weight{[]Complexity{Simple, Moderate, Complex}[level], estimates[k][level] * time.Minute}
}

// kindOf returns the kind of the first word of a piece that has one.
func (x *extractor) kindOf(p piece) kind {
	const reach = 4
	for _, w := range x.doc.Words[p.first:min(p.end, p.first+reach)] {
		if k := x.small.kind(w.Fold); k != other {
			return k
		}
	}
	return other
}

// orders are phrases of an introduction after which the order of a list
// counts. Numbers alone do not: they mostly count.
var orders = []string{
	" in order ", " in this order ", " in that order ", " in sequence ", " one after ", " step by step ",
	" dans l ordre ", " dans cet ordre ", " l un apres ", " etape par etape ",
}

// inOrder reports whether a block states that the order of its list counts.
func (x *extractor) inOrder(block int) bool {
	const most = 60 // words
	b := x.doc.Blocks[block]
	var said strings.Builder
	said.WriteByte(' ')
	for _, s := range x.doc.Sentences[b.First:b.End] {
		for _, w := range x.doc.Words[s.First:min(s.End, s.First+most)] {
			said.WriteString(w.Fold)
			said.WriteByte(' ')
		}
		if said.Len() > maxDescription {
			break
		}
	}
	return slices.ContainsFunc(orders, func(phrase string) bool { return strings.Contains(said.String(), phrase) })
}

// depend adds the dependencies that words express: "then X" needs the step before it,
// "after X" and "once X" the step that X names, and "before X" makes that step
// need this one. One that would close a circle is left out.
func (x *extractor) depend(list []Step, pieces []piece) {
	d := dependencies{needs: make([][]int, len(pieces))}
	for i, p := range pieces {
		if i > 0 && (p.follows || p.chained && pieces[i-1].chained) {
			d.add(i, i-1)
		}
		for _, r := range x.named(p) {
			j := x.find(pieces, r.stems, i)
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
	stems  []stem
	before bool
}

// named returns the references of a piece: the up to six words behind "after", in its
// sentence from up to ten words before it.
func (x *extractor) named(p piece) []reference {
	const reach, back = 6, 10
	s := x.sentenceOf(p.first)
	var found []reference
	for i := max(s.First, p.first-back); i < p.end && len(found) < 4; i++ {
		if x.is(i, after|before) {
			named := piece{first: i + 1, end: max(i+1, min(i+1+reach, s.End))}
			found = append(found, reference{x.stems(named), x.is(i, before)})
		}
	}
	return found
}

// sentenceOf returns the sentence that a word is in.
func (x *extractor) sentenceOf(word int) text.Sentence {
	i, _ := slices.BinarySearchFunc(x.doc.Sentences, word, func(s text.Sentence, w int) int {
		if s.End <= w {
			return -1
		}
		return 1
	})
	return x.doc.Sentences[i]
}

// find returns the piece other than i that a reference names: the first of those that
// share most of its words, -1 if none shares any.
func (x *extractor) find(pieces []piece, named []stem, i int) int {
	found, most := -1, 0
	for j, p := range pieces {
		if j == i {
			continue
		}
		if n := shared(x.stems(p), named); n > most {
			found, most = j, n
		}
	}
	return found
}

// dependencies are which steps need which.
type dependencies struct{ needs [][]int }

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
