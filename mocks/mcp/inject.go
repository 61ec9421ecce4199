package mcp

import "fmt"

// toolError is the kind of a fault that can be injected in addition to those of Faults without list_changed: a result
// that reports a failure of the tool (isError).
const toolError = "error"

// Injected returns the kinds of fault that an Injection can have.
func Injected() []string { return []string{toolError, hang, malformed, protocolError, exit} }

// Injection is a fault at one call, independent of the line that answers it, which is left to the next call. A fault
// that the line has itself fires at the next call, too.
type Injection struct {
	// Call is the number of the call, from 1, in order of arrival at all servers, with those that failed.
	Call int
	// Kind is one of Injected.
	Kind string
	// Name identifies the injection in reports, such as "tool=2:exit".
	Name string
}

// injection is the progress of an Injection.
type injection struct {
	Injection
	met, fired bool // the call was made; the fault took effect
}

func newInjections(given []Injection) []*injection {
	all := make([]*injection, len(given))
	for i := range given {
		all[i] = &injection{Injection: given[i]}
	}
	return all
}

// inject replaces the fault of a call by the injected one, if there is one for it. The caller holds e.mu.
func (e *Engine) inject(c *call) {
	for _, in := range e.injections {
		if in.Call == c.N && !in.met {
			in.met = true
			c.injected, c.fault, c.uses = in, in.Kind, false
			return
		}
	}
}

// fire records that the fault of a call takes effect. The caller holds e.mu.
func (c *call) fire() {
	switch {
	case c.injected != nil:
		c.injected.fired = true
	case c.fault != "":
		c.state.fired++
	}
}

// unfired describes the injections that had no effect. The caller holds e.mu.
func (e *Engine) unfired() (all []string) {
	for _, in := range e.injections {
		switch {
		case in.fired:
		case in.met:
			all = append(all, fmt.Sprintf("%s: the client left before it showed", in.Name))
		default:
			all = append(all, fmt.Sprintf("%s: no such call was made", in.Name))
		}
	}
	return all
}
