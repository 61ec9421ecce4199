package demo

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// The points of a turn at which the agent misbehaves: before it calls its model, or after the
// model has answered.
const (
	before  = "before"
	between = "between"
)

// lifetime limits the lifetime of a process that would not exit by itself.
const lifetime = 2 * time.Minute

// misbehave misbehaves according to the option: before the first call of the model if it begins
// with "early-", otherwise after a call.
func (a *assistant) misbehave(when string) error {
	early := strings.HasPrefix(a.do, "early-")
	if a.do == "" || early != (when == before) {
		return nil
	}
	switch do := strings.TrimPrefix(a.do, "early-"); do {
	case "exit":
		return &exitError{7, errors.New("it was told to fail")}
	case "end":
		os.Exit(0)
	case "crash":
		return crash()
	case "hang", "stay":
		return hang(do == "stay")
	case "flood":
		return a.flood()
	case "binary":
		_, err := a.stdout.Write([]byte("\x00\x01\xff\xfe"))
		return err
	case "fork", "daemon":
		return leave(do == "daemon")
	case "elsewhere":
		return elsewhere(http.DefaultClient)
	case "direct":
		return elsewhere(&http.Client{Transport: &http.Transport{}}) // without a proxy
	case "prose":
		_, err := fmt.Fprintln(a.stdout, "Let me think about that.")
		return err
	default:
		return &exitError{2, fmt.Errorf("there is no misbehaviour %q", do)}
	}
	return nil
}

// crash ends the process like a signal from outside.
func crash() error {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	time.Sleep(lifetime)
	return err
}

// hang neither answers nor exits; if stay is set, it ignores signals, too.
func hang(stay bool) error {
	if stay {
		signal.Ignore(os.Interrupt, syscall.SIGTERM)
	}
	time.Sleep(lifetime)
	return errors.New("nobody ended it")
}

// flood prints endless output.
func (a *assistant) flood() error {
	text := strings.Repeat("all work and no play ", 3000)
	for {
		write := func() error { return a.out.Encode(map[string]any{"type": "log", "text": text}) }
		if a.output == "text" {
			write = func() error { _, err := fmt.Fprintln(a.stdout, text); return err }
		}
		if err := write(); err != nil {
			return err
		}
	}
}

// leave leaves behind a process that keeps the outputs open: a process of the same group, or a
// daemon with its own session.
func leave(daemon bool) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "-do", "early-stay", "-argument", "-")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if daemon {
		detach(cmd)
	}
	return cmd.Start()
}

// elsewhere calls the real provider, like an agent that ignores the address in its environment.
func elsewhere(client *http.Client) error {
	const url = "https://api.openai.com/v1/chat/completions"
	resp, err := client.Post(url, "application/json", strings.NewReader("{}")) //nolint:noctx // as a careless agent does
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
