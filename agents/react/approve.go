package react

import (
	"context"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react/action"
)

// yes are the answers that approve an action.
var yes = []string{"y", "yes", "o", "oui", "ok"}

// ApproveBy returns an approver that asks a person; nil for nil. Only "y", "yes", "o", "oui" and "ok" approve.
func ApproveBy(p Person) action.Approver {
	if p == nil {
		return nil
	}
	return func(ctx context.Context, r action.Request) bool {
		answer, ok := p.Ask(ctx, "May the agent do this? "+r.Action+": "+r.Subject+" [y/N]", r.Detail)
		return ok && slices.Contains(yes, strings.ToLower(strings.TrimSpace(answer)))
	}
}
