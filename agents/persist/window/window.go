// Package window decides which files are in a run's context: at most so many, the
// least recently used ones leave first, and one that comes back is in it once. It
// neither reads nor saves anything: who asks saves what is to leave, and applies the
// change after that.
package window

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
)

// Default is how many files a window holds unless told otherwise.
const Default = 50

// remembered is how many files that left a window remembers for each that it holds.
const remembered = 20

// Window is the set of files in context. Paths are cleaned, with slashes, so that
// ./a and a are one file; an empty path is none. Its JSON form holds all of it.
type Window struct {
	max int
	// in are the files in context and out those that left, each least recently used
	// first. The slices are replaced and never changed: a copy of a Window stays as it is.
	in, out []string
	// fresh is how many of in, at its end, were used since the last look.
	fresh int
}

// Change is what becomes of a window. It is made by a Window and belongs to it as it
// stood then; the zero value changes nothing.
type Change struct {
	// Used are files that are used now, the last one last. Those that are not in
	// context enter it.
	Used []string `json:"used,omitempty"`
	// Evicted are those that leave, least recently used first. They must be saved
	// before the change is applied.
	Evicted []string `json:"evicted,omitempty"`
	// Restored are those of Used that had left, for who has them saved.
	Restored []string `json:"restored,omitempty"`
	// Left are files that were asked for and for which there is no room.
	Left []string `json:"left,omitempty"`
	// Look says that the window was looked over: see Window.Stale.
	Look bool `json:"look,omitempty"`
}

// Empty says whether c changes nothing.
func (c Change) Empty() bool { return len(c.Used)+len(c.Evicted) == 0 && !c.Look }

// New returns an empty window that holds at most limit files; below 1 means Default.
func New(limit int) *Window {
	if limit < 1 {
		limit = Default
	}
	return &Window{max: limit}
}

// Max is how many files it holds at most.
func (w *Window) Max() int { return w.max }

// Len is how many files are in context.
func (w *Window) Len() int { return len(w.in) }

// Has says whether a file is in context.
func (w *Window) Has(file string) bool { return slices.Contains(w.in, clean(file)) }

// Files are the files in context, least recently used first.
func (w *Window) Files() []string { return slices.Clone(w.in) }

// Evicted are the files that left and did not come back, the last one last. Of very
// many only the last are remembered, 20 for each file that the window holds.
func (w *Window) Evicted() []string { return slices.Clone(w.out) }

// Want says what must change so that the files of named are in context, the last
// one used last. Those of essential do not leave; of the others the least recently
// used do, be it one of named itself. It changes nothing.
func (w *Window) Want(named, essential []string) Change {
	used := distinct(named)
	order := after(w.in, used)
	keep := set(distinct(essential))
	var c Change
	over := len(order) - w.max
	for _, file := range order {
		if over <= 0 {
			break
		}
		if !keep[file] {
			c.Evicted = append(c.Evicted, file)
			over--
		}
	}
	return w.settle(c, used, over)
}

// Fit is Want for when nothing can be saved: nothing leaves, and files of named that
// find no room are Left.
func (w *Window) Fit(named []string) Change {
	used := distinct(named)
	return w.settle(Change{}, used, len(after(w.in, used))-w.max)
}

// settle completes c for the files that are used: the last of those that would
// enter stay out if there are too many by over.
func (w *Window) settle(c Change, used []string, over int) Change {
	in, out, evicted := set(w.in), set(w.out), set(c.Evicted)
	for _, file := range slices.Backward(used) {
		if over > 0 && !in[file] && !evicted[file] {
			c.Left = append(c.Left, file)
			over--
			continue
		}
		c.Used = append(c.Used, file)
		if out[file] && !evicted[file] {
			c.Restored = append(c.Restored, file)
		}
	}
	slices.Reverse(c.Left)
	slices.Reverse(c.Used)
	slices.Reverse(c.Restored)
	return c
}

// Stale says which files have not been used since the last look and are not
// essential: they are to leave. It changes nothing; to apply the change is the look.
func (w *Window) Stale(essential []string) Change {
	keep := set(distinct(essential))
	c := Change{Look: true}
	for _, file := range w.in[:len(w.in)-w.fresh] {
		if !keep[file] {
			c.Evicted = append(c.Evicted, file)
		}
	}
	return c
}

// Apply makes the change. Whatever c holds, no file is in context twice and there
// are never more than Max.
func (w *Window) Apply(c Change) {
	used := distinct(c.Used)
	gone := distinct(c.Evicted)
	left := set(gone)
	entered := without(after(w.in, used), left)
	fresh := without(after(w.in[len(w.in)-w.fresh:], used), left)
	if over := len(entered) - w.max; over > 0 {
		gone = append(gone, entered[:over]...)
		entered = entered[over:]
	}
	if len(used)+len(gone) > 0 {
		out := after(w.out, gone)
		out = without(out, set(entered))
		w.in, w.out = entered, newest(out, remembered*w.max)
	}
	w.fresh = min(len(fresh), len(entered))
	if c.Look {
		w.fresh = 0
	}
}

// form is a Window in JSON.
type form struct {
	Max   int      `json:"max"`
	In    []string `json:"in,omitempty"`
	Out   []string `json:"out,omitempty"`
	Fresh int      `json:"fresh,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (w *Window) MarshalJSON() ([]byte, error) {
	return json.Marshal(form{Max: w.max, In: w.in, Out: w.out, Fresh: w.fresh})
}

// UnmarshalJSON implements json.Unmarshaler. What Apply would not make of a window
// is put right: doubles, and files above the maximum.
func (w *Window) UnmarshalJSON(data []byte) error {
	var f form
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	*w = *New(f.Max)
	w.Apply(Change{Evicted: f.Out})
	w.Apply(Change{Used: f.In})
	w.fresh = min(max(f.Fresh, 0), len(w.in))
	return nil
}

func clean(file string) string {
	if file == "" {
		return ""
	}
	return path.Clean(filepath.ToSlash(file))
}

// distinct cleans files and keeps of equal ones the last.
func distinct(files []string) []string {
	seen := make(map[string]bool, len(files))
	kept := make([]string, 0, len(files))
	for _, file := range slices.Backward(files) {
		if file = clean(file); file != "" && !seen[file] {
			seen[file] = true
			kept = append(kept, file)
		}
	}
	slices.Reverse(kept)
	return kept
}

// after is order with the files of used moved, or added, to its end.
func after(order, used []string) []string {
	moved := set(used)
	all := make([]string, 0, len(order)+len(used))
	for _, file := range order {
		if !moved[file] {
			all = append(all, file)
		}
	}
	return append(all, used...)
}

// without is files but for those of a set.
func without(files []string, gone map[string]bool) []string {
	return slices.DeleteFunc(files, func(file string) bool { return gone[file] })
}

// newest is the end of files, at most n of them, and nothing before it in memory.
func newest(files []string, n int) []string {
	if len(files) <= n {
		return files
	}
	return slices.Clone(files[len(files)-n:])
}

func set(files []string) map[string]bool {
	all := make(map[string]bool, len(files))
	for _, file := range files {
		all[file] = true
	}
	return all
}
