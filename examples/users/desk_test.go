package users_test

import (
	"context"
	"testing"

	"github.com/rehearse-dev/rehearse/examples/users"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/app"
)

// TestDesk lets the simulated users of the scenarios talk to the desk.
func TestDesk(t *testing.T) {
	harness.Check(t, harness.Rehearsal{
		Files: []string{"scenarios"},
		Makers: map[string]app.Maker{"desk": func(site app.Site) func(context.Context, string) (string, error) {
			d := &users.Desk{BaseURL: site.Backend, Client: site.Client, Tickets: site.Folder, Secret: "GOLD-77"}
			return d.Answer
		}},
	})
}
