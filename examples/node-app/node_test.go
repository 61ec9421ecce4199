// Package node_test drives an agent that is written in JavaScript.
package node_test

import (
	"os/exec"
	"testing"

	"github.com/rehearse-dev/rehearse/harness"
)

func TestLibrarian(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skipf("the librarian is written for Node: %v", err)
	}
	harness.Check(t, harness.Rehearsal{Files: []string{"scenarios"}})
}
