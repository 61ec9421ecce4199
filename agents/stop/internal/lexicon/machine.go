package lexicon

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// maxStates bounds the automaton, so that a list with too many wild cards is an
// error and no endless compilation.
const maxStates = 1 << 18

// machine is the deterministic automaton, entered anew at each word of a text.
// State 0 is "no phrase goes on".
type machine struct {
	roots   []int32 // the state after a first word, by its number
	states  []state
	accepts []accept
	// edges is a hash table of the edges that read a given word, of a power of two
	// slots, at most half full.
	edges   []transition
	shift   uint
	longest int // words of the longest phrase
}

type state struct {
	first, end int32 // of accepts
	any, comma int32
}

// transition leads from a state and a word, which make the key, to a state.
type transition struct {
	key uint64
	to  int32
}

func key(from, word int32) uint64 { return uint64(from)<<32 | uint64(uint32(word)) }

func (m *machine) start(word int32) int32 {
	if uint(word) >= uint(len(m.roots)) {
		return 0
	}
	return m.roots[word]
}

func (m *machine) accepted(at int32) []accept {
	s := &m.states[at]
	return m.accepts[s.first:s.end]
}

// step reads the next word, with the gap before it.
func (m *machine) step(at, word int32, flags text.Flags) int32 {
	if flags&(text.AfterGap|text.AfterLine) == text.AfterGap {
		if at = m.states[at].comma; at == 0 {
			return 0
		}
	}
	if word == 0 {
		return m.states[at].any
	}
	k := key(at, word)
	mask := uint64(len(m.edges) - 1)
	for slot := k * 0x9E3779B97F4A7C15 >> m.shift; ; slot++ {
		switch e := &m.edges[slot&mask]; e.key {
		case k:
			return e.to
		case 0:
			return m.states[at].any
		}
	}
}

// determine makes the automaton of all phrases deterministic: each of its states
// is a set of the nodes that may be reached by the same words.
func (c *compiler) determine() (machine, error) {
	d := determiner{compiler: c, numbers: map[string]int32{}}
	d.machine.states = make([]state, 1)
	d.sets = make([][]int, 1)
	d.depths = make([]int, 1)
	root, _ := d.number(c.closure([]int{0}), 0)
	for at := root; int(at) < len(d.sets); at++ {
		if err := d.expand(at); err != nil {
			return machine{}, err
		}
	}
	d.machine.roots = make([]int32, c.lexicon.words.Len()+1)
	d.machine.table(d.found)
	for word := range d.machine.roots[1:] {
		d.machine.roots[word+1] = d.machine.step(root, int32(word+1), 0)
	}
	return d.machine, nil
}

type determiner struct {
	*compiler
	machine machine
	numbers map[string]int32 // of sets, by their members
	sets    [][]int
	depths  []int // words read, by state
	found   []transition
}

// number is the state of a set of nodes, 0 for the empty one.
func (d *determiner) number(set []int, depth int) (int32, error) {
	if len(set) == 0 {
		return 0, nil
	}
	var name []byte
	for _, n := range set {
		name = binary.AppendUvarint(name, uint64(n))
	}
	// The depth is part of the name: it bounds how long phrases are.
	name = binary.AppendUvarint(name, uint64(depth))
	if at, ok := d.numbers[string(name)]; ok {
		return at, nil
	}
	at := int32(len(d.sets))
	if at >= maxStates || depth > maxWords {
		return 0, fmt.Errorf("the phrases need more than %d states or %d words: use fewer _ and groups", maxStates, maxWords)
	}
	d.numbers[string(name)] = at
	d.sets = append(d.sets, set)
	d.depths = append(d.depths, depth)
	d.machine.longest = max(d.machine.longest, depth)
	s := state{first: int32(len(d.machine.accepts))}
	d.machine.accepts = append(d.machine.accepts, d.ends(set)...)
	s.end = int32(len(d.machine.accepts))
	d.machine.states = append(d.machine.states, s)
	return at, nil
}

// ends are the phrases that end in a set, of each class the first.
func (d *determiner) ends(set []int) []accept {
	var all []accept
	for _, n := range set {
		all = append(all, d.nodes[n].ends...)
	}
	slices.SortFunc(all, func(a, b accept) int { return a.phrase - b.phrase })
	var out []accept
	for _, a := range all {
		if !slices.ContainsFunc(out, func(o accept) bool { return o.class == a.class }) {
			out = append(out, a)
		}
	}
	return out
}

// expand finds where the edges of a state lead.
func (d *determiner) expand(at int32) error {
	var wild, comma []int
	targets := map[int32][]int{}
	var words []int32
	for _, n := range d.sets[at] {
		wild = append(wild, d.nodes[n].any...)
		comma = append(comma, d.nodes[n].comma...)
		for _, e := range d.nodes[n].words {
			if targets[e.word] == nil {
				words = append(words, e.word)
			}
			targets[e.word] = append(targets[e.word], e.to)
		}
	}
	depth := d.depths[at]
	for _, word := range words {
		to, err := d.number(d.closure(append(targets[word], wild...)), depth+1)
		if err != nil {
			return err
		}
		d.found = append(d.found, transition{key(at, word), to})
	}
	var err error
	if d.machine.states[at].any, err = d.target(wild, depth+1); err != nil {
		return err
	}
	d.machine.states[at].comma, err = d.target(comma, depth)
	return err
}

func (d *determiner) target(set []int, depth int) (int32, error) {
	return d.number(d.closure(set), depth)
}

// closure adds to a set the nodes that are reached without reading, and sorts it.
func (c *compiler) closure(set []int) []int {
	seen := map[int]bool{}
	var out []int
	for todo := slices.Clone(set); len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		out = append(out, n)
		todo = append(todo, c.nodes[n].empty...)
	}
	slices.Sort(out)
	return out
}

// table stores the edges in a hash table.
func (m *machine) table(edges []transition) {
	size := 1 << bits.Len(uint(2*len(edges)+1))
	m.edges = make([]transition, size)
	m.shift = uint(64 - bits.TrailingZeros(uint(size)))
	mask := uint64(size - 1)
	for _, e := range edges {
		slot := e.key * 0x9E3779B97F4A7C15 >> m.shift
		for m.edges[slot&mask].key != 0 {
			slot++
		}
		m.edges[slot&mask] = e
	}
}
