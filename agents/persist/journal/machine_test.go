package journal_test

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/persist/journal"
)

var errDead = errors.New("the process is dead")

// machine is a computer with one folder on a disk. Each byte that is written and each
// other operation is a step; the process can die at one, and the power can fail then.
type machine struct {
	names  map[string]*node // what a process sees
	moves  []move           // names that changed since their folder was synced
	steps  int              // made so far
	dies   int              // at this step; 0 is never
	faults []*fault
	ops    map[string]int // how often, by operation and name
}

// node is a file.
type node struct {
	data []byte
	safe []byte // what the disk holds for certain
}

// move is a name that was given or taken.
type move struct {
	name   string
	before *node
}

// fault makes the nth operation of its kind on a name fail from then on, for as many times.
type fault struct {
	op, name string
	skip     int
	times    int
	keep     int   // bytes of a write that reach the file all the same
	err      error // nil for a write is a short one
}

func newMachine() *machine {
	return &machine{names: map[string]*node{}, ops: map[string]int{}}
}

// disk returns the machine's folder as a store sees it.
func (m *machine) disk() journal.Files {
	return journal.Folder{
		OpenFile: m.open,
		Mkdir:    func(name string) error { return m.try("mkdir", name) },
		Rename:   m.rename,
		Remove: func(name string) error {
			if err := m.try("remove", name); err != nil {
				return err
			}
			m.name(name, nil)
			return nil
		},
		SyncFolder: func(name string) error {
			if err := m.try("sync folder", name); err != nil {
				return err
			}
			m.moves = slices.DeleteFunc(m.moves, func(v move) bool { return path.Dir(v.name) == path.Clean(name) })
			return nil
		},
	}
}

func (m *machine) step() error {
	if m.dies > 0 && m.steps >= m.dies {
		return errDead
	}
	m.steps++
	return nil
}

// try returns one operation.
func (m *machine) try(op, name string) error {
	m.ops[op+" "+path.Clean(name)]++
	if f := m.fault(op, name); f != nil {
		return f.err
	}
	return m.step()
}

// fault returns the fault that this operation meets.
func (m *machine) fault(op, name string) *fault {
	for _, f := range m.faults {
		if f.op != op || f.name != path.Clean(name) || f.times == 0 {
			continue
		}
		if f.skip > 0 {
			f.skip--
			continue
		}
		f.times--
		return f
	}
	return nil
}

func (m *machine) open(name string, flag int) (journal.File, error) {
	name = path.Clean(name)
	if err := m.try("open", name); err != nil {
		return nil, err
	}
	n := m.names[name]
	if n == nil {
		if flag&os.O_CREATE == 0 {
			return nil, fs.ErrNotExist
		}
		n = &node{}
		m.name(name, n)
	}
	if flag&os.O_TRUNC != 0 {
		n.data = nil
	}
	return &handle{m: m, n: n, name: name}, nil
}

func (m *machine) name(name string, n *node) {
	name = path.Clean(name)
	m.moves = append(m.moves, move{name, m.names[name]})
	if n == nil {
		delete(m.names, name)
		return
	}
	m.names[name] = n
}

func (m *machine) rename(from, to string) error {
	if err := m.try("rename", to); err != nil {
		return err
	}
	n := m.names[path.Clean(from)]
	m.name(to, n)
	m.name(from, nil)
	return nil
}

// restart returns the machine after its process was killed: what was written is there.
func (m *machine) restart() *machine {
	next := newMachine()
	for name, n := range m.names {
		next.names[name] = &node{data: slices.Clone(n.data), safe: slices.Clone(n.safe)}
	}
	return next
}

// powerCut returns the machine after the power failed: of what was not synced, some of the
// last names are lost, and of each file there is a part, of which the end may be zeros.
func (m *machine) powerCut(random *rand.Rand) *machine {
	next := newMachine()
	names := maps.Clone(m.names)
	lost := random.IntN(len(m.moves) + 1)
	for _, v := range slices.Backward(m.moves[len(m.moves)-lost:]) {
		delete(names, v.name)
		if v.before != nil {
			names[v.name] = v.before
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		data := names[name].survivor(random)
		next.names[name] = &node{data: data, safe: data}
	}
	return next
}

func (n *node) survivor(random *rand.Rand) []byte {
	same := 0
	for same < min(len(n.data), len(n.safe)) && n.data[same] == n.safe[same] {
		same++
	}
	if same < len(n.safe) { // it was cut or overwritten
		return slices.Clone([][]byte{n.safe, n.data}[random.IntN(2)])
	}
	part := slices.Clone(n.data[:same+random.IntN(len(n.data)-same+1)])
	if random.IntN(2) == 0 {
		clear(part[same+random.IntN(len(part)-same+1):])
	}
	return part
}

// handle is an open file; what is written goes to its end.
type handle struct {
	m    *machine
	n    *node
	name string
	at   int
}

func (h *handle) Read(p []byte) (int, error) {
	if h.at >= len(h.n.data) {
		return 0, io.EOF
	}
	n := copy(p, h.n.data[h.at:])
	h.at += n
	return n, nil
}

func (h *handle) Write(p []byte) (int, error) {
	h.m.ops["write "+h.name]++
	if f := h.m.fault("write", h.name); f != nil {
		n := min(f.keep, len(p))
		h.n.data = append(h.n.data, p[:n]...)
		return n, f.err
	}
	for i, b := range p {
		if err := h.m.step(); err != nil {
			return i, err
		}
		h.n.data = append(h.n.data, b)
	}
	return len(p), nil
}

func (h *handle) Truncate(size int64) error {
	if err := h.m.try("truncate", h.name); err != nil {
		return err
	}
	h.n.data = slices.Clone(h.n.data[:size])
	return nil
}

func (h *handle) Sync() error {
	if err := h.m.try("sync", h.name); err != nil {
		return err
	}
	h.n.safe = slices.Clone(h.n.data)
	return nil
}

func (h *handle) Close() error { return nil }
