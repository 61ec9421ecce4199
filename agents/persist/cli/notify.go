package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/redact"
)

const (
	// notifyTimeout limits the time of a notification.
	notifyTimeout = 30 * time.Second
	notifyGrace   = 2 * time.Second
)

// notifier runs the user's command when a task needs a person or cannot be done, and at the end of the run.
// A notification that fails is a warning.
type notifier struct {
	command string // a shell command line; empty: none
	folder  string
	plan    string
	redact  *redact.Redactor
	warn    func(string)
	running sync.WaitGroup
}

// stuckTask describes a task that needs a person or cannot be done; see persist.Task.
type stuckTask struct {
	ID       string `json:"id"`
	State    string `json:"state"`
	Attempts int    `json:"attempts"`
	From     string `json:"from,omitempty"`
	Details  string `json:"details"`
}

// sink returns a sink that also notifies about attempts that left their task escalated or blocked, without
// holding up the run.
func (n *notifier) sink(to event.Sink) event.Sink {
	if n.command == "" {
		return to
	}
	return event.SinkFunc(func(e event.Event) {
		to.Emit(e)
		a, ok := event.Read[persist.Attempted](&e)
		if !ok || a.Grade != string(persist.Escalated) && a.Grade != string(persist.Blocked) {
			return
		}
		task := stuckTask{ID: a.ID, State: a.Grade, Attempts: a.Attempt, From: string(a.From), Details: n.redact.Text(e.Detail)}
		n.running.Go(func() { n.notify(context.Background(), "task", a.ID, task) })
	})
}

// end notifies about the end of the run, also after an interrupt, and waits for all notifications.
func (n *notifier) end(ctx context.Context, r persist.Result) {
	n.running.Wait()
	if n.command != "" {
		n.notify(context.WithoutCancel(ctx), "end", "", redact.Copy(r, n.redact.Text))
	}
}

// notify runs the command with a value as JSON on its standard input.
func (n *notifier) notify(ctx context.Context, what, task string, v any) {
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		n.failed(err.Error(), "")
		return
	}
	argv := []string{"sh", "-c", n.command}
	if runtime.GOOS == "windows" {
		argv = []string{"cmd", "/c", n.command}
	}
	environ := os.Environ() //nolint:forbidigo // the command inherits the environment without secrets
	var output child.Tail
	end, err := child.Run(ctx, child.Program{
		Argv: argv, Dir: n.folder, Stdin: body.String(), Stdout: &output, Grace: notifyGrace,
		Env: append(redact.WithoutSecrets(environ, nil), "REHEARSE_EVENT="+what, "REHEARSE_PLAN="+n.plan, "REHEARSE_TASK="+task),
	})
	switch {
	case err != nil:
		n.failed(err.Error(), "")
	case end.Cause != nil:
		n.failed(fmt.Sprintf("it did not end within %s", notifyTimeout), output.Lines())
	case end.Code != 0:
		n.failed(end.State, output.Lines())
	}
}

func (n *notifier) failed(why, output string) {
	line := fmt.Sprintf("warning: run the notification %s: %s", sanitize.Line(n.command, 80), why)
	if output != "" {
		line += "; it printed: " + sanitize.Line(output, 200)
	}
	n.warn(n.redact.Text(line))
}
