package command_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/kind/command"
)

// BenchmarkTurn measures a turn of a program that prints its answer: a process.
func BenchmarkTurn(b *testing.B) {
	path, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	agent, err := command.New(command.Options{Launch: command.Launch{Run: []string{path}}})
	if err != nil {
		b.Fatal(err)
	}
	place := app.Site{Folder: b.TempDir(), Home: b.TempDir(), Clock: clock.Real(), Env: []string{"COMMAND_SPEC=print:hello", "GORACE=atexit_sleep_ms=0"}}
	session, err := agent.Start(b.Context(), place)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		answer, err := session.Say(b.Context(), "Hello.")
		if err != nil || answer.Text != "hello" {
			b.Fatal(answer, err)
		}
	}
}

// BenchmarkFloorTurn starts the same program without the harness.
func BenchmarkFloorTurn(b *testing.B) {
	path, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		cmd := exec.Command(path)
		cmd.Env = append(os.Environ(), "COMMAND_SPEC=print:hello")
		cmd.Stdin = strings.NewReader("Hello.")
		out, err := cmd.Output()
		if err != nil || string(out) != "hello" {
			b.Fatal(string(out), err)
		}
	}
}
