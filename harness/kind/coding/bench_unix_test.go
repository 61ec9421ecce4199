//go:build unix

package coding_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/kind/coding"
)

// BenchmarkTurn measures a turn of a script. The floor starts the same script without the harness.
func BenchmarkTurn(b *testing.B) {
	root := b.TempDir()
	program := filepath.Join(root, "agent")
	script := "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 1.2.3; exit; fi\ncat >/dev/null\n" + initLine +
		`echo '{"type":"result","subtype":"success","result":"Done."}'` + "\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		b.Fatal(err)
	}
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command(program, "--print")
			cmd.Stdin = strings.NewReader("Go.")
			if _, err := cmd.Output(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("driven", func(b *testing.B) {
		agent, err := coding.New(coding.Config{Agent: "claude"}, &coding.Programs{Getenv: func(string) string { return program }})
		if err != nil {
			b.Fatal(err)
		}
		session, err := agent.Start(context.Background(), app.Site{Folder: root, Home: root, Clock: clock.Real()})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := session.Say(context.Background(), "Go."); err != nil {
				b.Fatal(err)
			}
		}
	})
}
