// Package node_test drives an agent that is written in JavaScript.
package node_test

import (
	"os/exec"
	"testing"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/harness/kind/http"
)

func TestLibrarian(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skipf("Node is not installed: %v", err)
	}
	harness.Check(t, harness.Rehearsal{Kinds: kind.List{http.Kind()}, Files: []string{"scenarios"}})
}
