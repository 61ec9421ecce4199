package grammar

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// machine is the deterministic automaton of a grammar. Each of its states is the
// set of the nodes that the same words lead to. States and edges are made when a
// text first needs them, since most words of a lexicon are not in a message, and
// are kept for later texts. What is found does not depend on what is kept.
//
// Reading takes no lock: a state is written before the edge that leads to it, and
// an edge is one word of memory.
type machine struct {
	g *Grammar
	// first holds, for each place, language and word, the number of the state behind
	// it if phrases begin with it there, or unknown, or nowhere.
	first [places][maxLangs + 1][]uint32
	// edges is a hash table, 0 in its free slots: the state and the word that an edge
	// leaves and reads in the upper half, the state that it leads to in the lower one.
	edges  []uint64
	shift  uint
	states []*state // by number

	lock    sync.Mutex // of what follows, and to write what stands above
	count   int        // of states
	used    int        // of slots of edges
	numbers map[string]uint32
	to      []int32 // the nodes that a step leads to
}

// state is a state of the machine, immutable.
type state struct {
	// number is 0 if the state is not kept.
	number uint32
	nodes  []int32
	ends   []end
	// near predicts which words continue a phrase; all is true if any word does, cross if any does
	// after a gap.
	near       outlook
	all, cross bool
	// far predicts which words after the next one, up to horizon, continue a phrase, whatever
	// precedes them.
	far outlook
}

// horizon is the number of words of a gap that are predicted.
const horizon = 3

// Numbers that do not belong to a state.
const (
	unknown uint32 = iota
	nowhere
	firstNumber
)

// The bounds of a machine. Once it is full, a new one takes its place.
const (
	wordBits  = 16
	maxStates = 1 << 14
	maxEdges  = 1 << 15
)

// newMachine makes a machine for up to so many states and edges; the number of
// edges is a power of two.
func newMachine(g *Grammar, states, edges int) *machine {
	m := &machine{
		g:       g,
		edges:   make([]uint64, 2*edges),
		shift:   uint(64 - bits.Len(uint(edges))),
		states:  make([]*state, states),
		count:   int(firstNumber),
		numbers: map[string]uint32{},
	}
	for place := range m.first {
		for lang := range m.first[place] {
			m.first[place][lang] = make([]uint32, g.Words.Len()+1)
		}
	}
	return m
}

// begin returns the state behind the first word of phrases, nil if none begins so.
func (m *machine) begin(place int, lang Lang, word int32) *state {
	switch n := atomic.LoadUint32(&m.first[place][lang][word]); n {
	case nowhere:
		return nil
	case unknown:
		return m.newBegin(place, lang, word)
	default:
		return m.states[n]
	}
}

// step returns the state behind a further word, nil if no phrase goes on so.
func (m *machine) step(from *state, word int32, gap bool) *state {
	if !from.all && (!from.near.allows(&m.g.traits[word]) || gap && !from.cross) {
		return nil
	}
	key := keyOf(from.number, word, gap)
	for slot := key * 0x9E3779B97F4A7C15 >> (m.shift & 63); ; slot++ {
		e := atomic.LoadUint64(&m.edges[slot&uint64(len(m.edges)-1)])
		if e == 0 { // always for a state that is not kept
			return m.newStep(from, word, gap)
		}
		if e>>32 == key {
			if uint32(e) == nowhere {
				return nil
			}
			return m.states[uint32(e)]
		}
	}
}

// keyOf makes a number below 2 to the 32 of what an edge leaves and reads.
func keyOf(from uint32, word int32, gap bool) uint64 {
	key := uint64(from)<<(wordBits+1) | uint64(uint32(word))<<1
	if gap {
		key |= 1
	}
	return key
}

// newBegin finds the state that begin asks for.
func (m *machine) newBegin(place int, lang Lang, word int32) *state {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.to = m.to[:0]
	for p := anywhere; p <= place; p++ {
		for l := range Lang(maxLangs) {
			if lang == l || lang == Any {
				m.lead(rootOf(p, l), word, false)
			}
		}
	}
	s := m.reached()
	if n := number(s); n != unknown {
		atomic.StoreUint32(&m.first[place][lang][word], n)
	}
	return s
}

// newStep finds the state that step asks for.
func (m *machine) newStep(from *state, word int32, gap bool) *state {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.to = m.to[:0]
	for _, n := range from.nodes {
		m.lead(n, word, gap)
		first, last := m.g.edgesOf(n, anyEdge)
		for _, e := range m.g.edges[first:last] {
			m.to = append(m.to, e.to)
		}
	}
	s := m.reached()
	if n := number(s); n != unknown && from.number != unknown {
		m.keep(keyOf(from.number, word, gap), n)
	}
	return s
}

// number returns the number of a state, unknown if it is not kept.
func number(s *state) uint32 {
	if s == nil {
		return nowhere
	}
	return s.number
}

// keep adds an edge to the table, unless it is there or there is no room.
func (m *machine) keep(key uint64, to uint32) {
	if m.used == len(m.edges)/2 {
		m.replace()
		return
	}
	mask := uint64(len(m.edges) - 1)
	slot := key * 0x9E3779B97F4A7C15 >> (m.shift & 63)
	for ; m.edges[slot&mask] != 0; slot++ {
		if m.edges[slot&mask]>>32 == key {
			return
		}
	}
	atomic.StoreUint64(&m.edges[slot&mask], key<<32|uint64(to))
	m.used++
}

// replace puts a new machine in the place of a full one.
func (m *machine) replace() {
	m.g.machine.CompareAndSwap(m, newMachine(m.g, len(m.states), len(m.edges)/2))
}

// lead adds to m.to the nodes that the word leads to by itself or by its sets.
func (m *machine) lead(from, word int32, gap bool) {
	if word == 0 {
		return
	}
	first, last := m.g.edgesOf(from, wordEdge)
	words := m.g.edges[first:last]
	if from < roots { // thousands, in order
		words = words[sort.Search(len(words), func(i int) bool { return words[i].symbol >= word }):]
	}
	for _, e := range words {
		if e.symbol == word && (!gap || e.cross) {
			m.to = append(m.to, e.to)
		} else if e.symbol != word && from < roots {
			break
		}
	}
	first, last = m.g.edgesOf(from, setEdge)
	for _, e := range m.g.edges[first:last] {
		if m.g.traits[word].sets>>uint(e.symbol)&1 != 0 && (!gap || e.cross) {
			m.to = append(m.to, e.to)
		}
	}
}

// reached returns the state of the nodes in m.to, nil if there are none.
func (m *machine) reached() *state {
	if len(m.to) == 0 {
		return nil
	}
	slices.Sort(m.to)
	m.to = slices.Compact(m.to)
	name := unsafe.Slice((*byte)(unsafe.Pointer(&m.to[0])), 4*len(m.to))
	if n, ok := m.numbers[string(name)]; ok {
		return m.states[n]
	}
	s := m.newState()
	if m.count == len(m.states) {
		m.replace()
		return s
	}
	s.number = uint32(m.count)
	m.states[m.count] = s
	m.numbers[string(name)] = s.number
	m.count++
	return s
}

// newState makes the state of the nodes in m.to.
func (m *machine) newState() *state {
	s := &state{nodes: slices.Clone(m.to)}
	for _, n := range s.nodes {
		first, last := m.g.edgesOf(n, wordEdge)
		for _, e := range m.g.edges[first:last] {
			s.near.words |= m.g.traits[e.symbol].bit
			s.cross = s.cross || e.cross
		}
		first, last = m.g.edgesOf(n, setEdge)
		for _, e := range m.g.edges[first:last] {
			s.near.sets |= 1 << uint(e.symbol)
			s.cross = s.cross || e.cross
		}
		first, last = m.g.edgesOf(n, anyEdge)
		s.all = s.all || first < last
		s.ends = append(s.ends, m.g.ends[m.g.nodes[n].ends:m.g.nodes[n+1].ends]...)
	}
	m.lookBeyond(s)
	slices.SortFunc(s.ends, func(a, b end) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.pattern, b.pattern))
	})
	return s
}

// lookBeyond predicts which words continue a phrase after words of any kind. A phrase that ends with
// such words, or needs more of them than horizon, may always continue.
func (m *machine) lookBeyond(s *state) {
	nodes := s.nodes
	for depth := 0; ; depth++ {
		var next []int32
		for _, n := range nodes {
			first, last := m.g.edgesOf(n, anyEdge)
			for _, e := range m.g.edges[first:last] {
				next = append(next, e.to)
			}
		}
		if len(next) == 0 {
			return
		}
		for _, n := range next {
			if depth == horizon || m.g.nodes[n].ends < m.g.nodes[n+1].ends {
				s.near.words = ^uint64(0)
				return
			}
			s.far.edges(m.g, n)
		}
		slices.Sort(next)
		nodes = slices.Compact(next)
	}
}

// leads reports whether a phrase may end among the words, which follow those that led
// to the state: most gaps are not worth walking.
func (m *machine) leads(s *state, words []text.Word) bool {
	if s.near.allows(&m.g.traits[words[0].ID]) {
		return true
	}
	for i := 1; i < len(words) && i <= horizon; i++ {
		if s.far.allows(&m.g.traits[words[i].ID]) {
			return true
		}
	}
	return false
}
