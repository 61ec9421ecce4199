package state

import (
	"cmp"
	"container/list"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
)

// remembered is the number of evicted files that a window remembers for each file of its limit.
const remembered = 20

// Window is the set of files in context, up to a limit. The least recently used files leave first.
// Paths are cleaned and have slashes, so ./a and a are the same file. Empty paths are ignored. A Window
// must not be copied.
//
// A Window does not save anything: the caller computes a Change, saves the evicted files, and
// then applies the change.
type Window struct {
	max int // at least 1
	// in has the files in context and out the evicted files, both least recently used first; known
	// has the elements of both by path.
	in, out list.List
	known   map[string]*list.Element
}

// member is a file in one of the lists of a window.
type member struct {
	path string
	in   bool
	// fresh is true if the file was used since the last Stale change. The fresh files in context
	// are at the end.
	fresh bool
}

// Change is a change of a Window, for its state at that time. The zero value changes nothing.
type Change struct {
	// Used are the files that are used now, in order. They enter the context if needed.
	Used []string `json:"used,omitempty"`
	// Evicted are the files that leave, least recently used first. They must be saved before the
	// change is applied.
	Evicted []string `json:"evicted,omitempty"`
	// Restored are the files of Used that were evicted before.
	Restored []string `json:"restored,omitempty"`
	// Left are requested files for which there is no room.
	Left []string `json:"left,omitempty"`
	// Look is true for a change by Window.Stale.
	Look bool `json:"look,omitempty"`
}

// Empty reports whether c changes nothing.
func (c Change) Empty() bool { return len(c.Used)+len(c.Evicted) == 0 && !c.Look }

// newWindow returns an empty window of at most limit files, at least one.
func newWindow(limit int) *Window { return &Window{max: max(limit, 1)} }

// Max returns the limit.
func (w *Window) Max() int { return w.max }

// Len returns the number of files in context.
func (w *Window) Len() int { return w.in.Len() }

// Files returns the files in context, least recently used first.
func (w *Window) Files() []string { return paths(&w.in) }

// Evicted returns the last files that left and did not come back, in order.
func (w *Window) Evicted() []string { return paths(&w.out) }

// Want returns the change for a use of the named files in this order. Essential files stay; of the
// others the least recently used ones leave, which may be named files.
func (w *Window) Want(named, essential []string) Change {
	used := distinct(named)
	var c Change
	over := w.over(used)
	if over <= 0 {
		return w.settle(c, used, over)
	}
	stay, moved := set(distinct(essential)), set(used)
	for e := w.in.Front(); e != nil && over > 0; e = e.Next() {
		if file := e.Value.(*member).path; !stay[file] && !moved[file] {
			c.Evicted = append(c.Evicted, file)
			over--
		}
	}
	for _, file := range used {
		if over > 0 && !stay[file] {
			c.Evicted = append(c.Evicted, file)
			over--
		}
	}
	return w.settle(c, used, over)
}

// Fit is Want without evictions: named files without room are Left.
func (w *Window) Fit(named []string) Change {
	used := distinct(named)
	return w.settle(Change{}, used, w.over(used))
}

// over returns the number of files above the limit once the used files are in context.
func (w *Window) over(used []string) int {
	n := w.in.Len() - w.max
	for _, file := range used {
		if inWindow, _ := w.find(file); !inWindow {
			n++
		}
	}
	return n
}

// settle completes c for the used files. If over is positive, the last new files are left out.
func (w *Window) settle(c Change, used []string, over int) Change {
	evicted := set(c.Evicted)
	for _, file := range slices.Backward(used) {
		inWindow, left := w.find(file)
		if over > 0 && !inWindow && !evicted[file] {
			c.Left = append(c.Left, file)
			over--
			continue
		}
		c.Used = append(c.Used, file)
		if left && !evicted[file] {
			c.Restored = append(c.Restored, file)
		}
	}
	slices.Reverse(c.Left)
	slices.Reverse(c.Used)
	slices.Reverse(c.Restored)
	return c
}

// Stale returns the change that evicts the files that are not essential and were not used since
// the last such change was applied.
func (w *Window) Stale(essential []string) Change {
	stay := set(distinct(essential))
	c := Change{Look: true}
	for e := w.in.Front(); e != nil && !e.Value.(*member).fresh; e = e.Next() {
		if file := e.Value.(*member).path; !stay[file] {
			c.Evicted = append(c.Evicted, file)
		}
	}
	return c
}

// Apply applies the change. Even for an invalid c, no file is in context twice, and the limit holds.
func (w *Window) Apply(c Change) {
	for _, file := range distinct(c.Used) {
		w.move(file, true)
	}
	for _, file := range distinct(c.Evicted) {
		w.move(file, false)
	}
	for w.in.Len() > w.max {
		w.move(w.in.Front().Value.(*member).path, false)
	}
	for w.out.Len() > remembered*w.max {
		delete(w.known, w.out.Remove(w.out.Front()).(*member).path)
	}
	if !c.Look {
		return
	}
	for e := w.in.Back(); e != nil && e.Value.(*member).fresh; e = e.Prev() {
		e.Value.(*member).fresh = false
	}
}

// find reports whether a file is in context, and whether it was evicted.
func (w *Window) find(file string) (in, evicted bool) {
	e, ok := w.known[file]
	if !ok {
		return false, false
	}
	in = e.Value.(*member).in
	return in, !in
}

// move moves a file to the end of the files in context or of the evicted files.
func (w *Window) move(file string, in bool) {
	if w.known == nil {
		w.known = map[string]*list.Element{}
	}
	m := &member{path: file}
	if e, ok := w.known[file]; ok {
		m = w.list(e.Value.(*member).in).Remove(e).(*member)
	}
	m.in, m.fresh = in, in
	w.known[file] = w.list(in).PushBack(m)
}

func (w *Window) list(in bool) *list.List {
	if in {
		return &w.in
	}
	return &w.out
}

// windowForm is a Window in JSON.
type windowForm struct {
	Max   int      `json:"max"`
	In    []string `json:"in,omitempty"`
	Out   []string `json:"out,omitempty"`
	Fresh int      `json:"fresh,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (w *Window) MarshalJSON() ([]byte, error) {
	f := windowForm{Max: w.max, In: w.Files(), Out: w.Evicted()}
	for e := w.in.Back(); e != nil && e.Value.(*member).fresh; e = e.Prev() {
		f.Fresh++
	}
	return json.Marshal(f)
}

// UnmarshalJSON implements json.Unmarshaler. A limit that is set already is kept: of more files, the
// least recently used ones leave. Inconsistencies such as duplicates are fixed.
func (w *Window) UnmarshalJSON(data []byte) error {
	var f windowForm
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	*w = Window{max: max(1, cmp.Or(w.max, f.Max))}
	w.Apply(Change{Evicted: f.Out})
	w.Apply(Change{Used: f.In})
	old := w.in.Len() - max(f.Fresh, 0)
	for e := w.in.Front(); e != nil && old > 0; e = e.Next() {
		e.Value.(*member).fresh = false
		old--
	}
	return nil
}

func paths(l *list.List) []string {
	all := make([]string, 0, l.Len())
	for e := l.Front(); e != nil; e = e.Next() {
		all = append(all, e.Value.(*member).path)
	}
	return all
}

func clean(file string) string {
	if file == "" {
		return ""
	}
	return path.Clean(filepath.ToSlash(file))
}

// distinct returns the cleaned paths; of equal paths it keeps the last.
func distinct(files []string) []string {
	seen := make(map[string]bool, len(files))
	unique := make([]string, 0, len(files))
	for _, file := range slices.Backward(files) {
		if file = clean(file); file != "" && !seen[file] {
			seen[file] = true
			unique = append(unique, file)
		}
	}
	slices.Reverse(unique)
	return unique
}

func set(files []string) map[string]bool {
	all := make(map[string]bool, len(files))
	for _, file := range files {
		all[file] = true
	}
	return all
}
