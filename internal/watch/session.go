package watch

import (
	"context"
	"slices"
)

// Key is a command of a person.
type Key rune

// The keys.
const (
	KeyAll    Key = 'a'
	KeyFailed Key = 'f'
	KeyFilter Key = 'p'
	KeyQuit   Key = 'q'
	KeyAgain  Key = '\n'
)

// Runner does what a session decides.
type Runner interface {
	// Load returns the items that there are now. Its error is shown by Problem.
	Load() ([]Item, error)
	// Run runs the items with these names, and returns the names of those that did not pass.
	Run(ctx context.Context, names []string) (failed []string)
	// Problem shows an error of Load.
	Problem(err error)
	// Idle shows that the session waits; note may be empty.
	Idle(note string)
	// Filter asks for a filter for Load.
	Filter(ctx context.Context)
}

// Session runs items again when files or keys demand it.
type Session struct {
	Runner Runner

	items  []Item
	broken string // the error of the last Load
	failed map[string]bool
	last   []string // of the last run
}

// Loop runs all items, and then the items that changes affect or keys select, until the context ends, the
// key q is received or changes is closed. keys may be nil.
func (s *Session) Loop(ctx context.Context, changes <-chan []string, keys <-chan Key) {
	s.failed = map[string]bool{}
	s.reload(ctx, nil, true)
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case changed, ok := <-changes:
			if !ok {
				return
			}
			s.reload(ctx, changed, false)
		case key, ok := <-keys:
			switch {
			case !ok:
				keys = nil
			case key == KeyQuit:
				return
			default:
				s.key(ctx, key)
			}
		}
	}
}

// key does what a key demands.
func (s *Session) key(ctx context.Context, key Key) {
	switch key {
	case KeyAll:
		s.reload(ctx, nil, true)
	case KeyFailed:
		names := slices.DeleteFunc(namesOf(s.items), func(name string) bool { return !s.failed[name] })
		if len(names) == 0 {
			s.Runner.Idle("nothing failed")
			return
		}
		s.run(ctx, names)
	case KeyFilter:
		s.Runner.Filter(ctx)
		s.reload(ctx, nil, true)
	case KeyAgain:
		there := namesOf(s.items)
		s.run(ctx, slices.DeleteFunc(slices.Clone(s.last), func(name string) bool { return !slices.Contains(there, name) }))
	case KeyQuit: // Loop ends
	}
}

// reload loads the items, and runs all or the affected ones.
func (s *Session) reload(ctx context.Context, changed []string, all bool) {
	items, err := s.Runner.Load()
	if err != nil {
		if s.broken != err.Error() { // it is shown already
			s.broken = err.Error()
			s.Runner.Problem(err)
			s.Runner.Idle("")
		}
		return
	}
	mended, fewer := s.broken != "", len(items) < len(s.items)
	names := Affected(s.items, items, changed)
	if all {
		names = namesOf(items)
	}
	s.items, s.broken = items, ""
	switch {
	case len(names) > 0:
		s.run(ctx, names)
	case mended:
		s.Runner.Idle("the files are valid again")
	case fewer:
		s.Runner.Idle("")
	}
}

func (s *Session) run(ctx context.Context, names []string) {
	if len(names) == 0 {
		s.Runner.Idle("nothing to run")
		return
	}
	failed := s.Runner.Run(ctx, names)
	for _, name := range names {
		s.failed[name] = slices.Contains(failed, name)
	}
	s.last = names
	if ctx.Err() == nil {
		s.Runner.Idle("")
	}
}

func namesOf(items []Item) []string {
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = item.Name
	}
	return names
}
