package llm

import (
	"context"
	"fmt"
	"strings"
)

// Adapter is a Backend that users select by its id, and that can check whether it is usable on this
// machine.
type Adapter interface {
	Backend
	// ID returns the name by which users select the adapter.
	ID() string
	// Available returns nil if a call can be tried, or an error that describes the missing part and
	// how to get it. It must not call a model.
	Available(ctx context.Context) error
}

// FindAdapter returns the adapter with an id if it is available. Otherwise the error has the reason and
// lists the other adapters.
func FindAdapter(ctx context.Context, id string, adapters ...Adapter) (Adapter, error) {
	for _, a := range adapters {
		if a.ID() != id {
			continue
		}
		if err := a.Available(ctx); err != nil {
			return nil, fmt.Errorf("backend %q is not available: %w; %s", id, err, describeOthers(ctx, id, adapters))
		}
		return a, nil
	}
	return nil, fmt.Errorf("unknown backend %q; %s", id, describeOthers(ctx, id, adapters))
}

// describeOthers lists the adapters other than id, available ones first.
func describeOthers(ctx context.Context, id string, adapters []Adapter) string {
	var usable, missing []string
	for _, a := range adapters {
		switch {
		case a.ID() == id:
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
