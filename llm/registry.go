package llm

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Adapter is a Backend that is found by its id and can report, before the first
// call, whether it can be used on this machine.
type Adapter interface {
	Backend
	// ID is the short name by which users choose the adapter.
	ID() string
	// Available returns nil if a call can be tried, or an error that names what
	// is missing and how to get it. It must not call a model.
	Available(ctx context.Context) error
}

// Registry finds adapters by id. The zero value is empty and ready to use.
type Registry struct {
	adapters []Adapter
}

// NewRegistry returns a registry of the given adapters. A later adapter
// replaces an earlier one of the same id.
func NewRegistry(adapters ...Adapter) *Registry {
	r := &Registry{}
	for _, a := range adapters {
		r.adapters = slices.DeleteFunc(r.adapters, func(b Adapter) bool { return b.ID() == a.ID() })
		r.adapters = append(r.adapters, a)
	}
	return r
}

// IDs lists the ids in the order of registration.
func (r *Registry) IDs() []string {
	ids := make([]string, len(r.adapters))
	for i, a := range r.adapters {
		ids[i] = a.ID()
	}
	return ids
}

// Find returns the adapter with that id if it is available. Otherwise the
// error gives the reason, and lists which other adapters are available.
func (r *Registry) Find(ctx context.Context, id string) (Adapter, error) {
	var found Adapter
	for _, a := range r.adapters {
		if a.ID() == id {
			found = a
		}
	}
	if found == nil {
		return nil, fmt.Errorf("backend %q is not known; %s", id, r.choices(ctx, id))
	}
	if err := found.Available(ctx); err != nil {
		return nil, fmt.Errorf("backend %q is not available: %w; %s", id, err, r.choices(ctx, id))
	}
	return found, nil
}

// choices names the usable adapters, and the known but unusable ones.
func (r *Registry) choices(ctx context.Context, except string) string {
	var usable, missing []string
	for _, a := range r.adapters {
		switch {
		case a.ID() == except:
		case a.Available(ctx) == nil:
			usable = append(usable, a.ID())
		default:
			missing = append(missing, a.ID())
		}
	}
	text := "no other backend is available"
	if len(usable) > 0 {
		text = "available: " + strings.Join(usable, ", ")
	}
	if len(missing) > 0 {
		text += " (known but not available: " + strings.Join(missing, ", ") + ")"
	}
	return text
}
