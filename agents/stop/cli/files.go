package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/agents/stop/hook"
	"github.com/rehearse-dev/rehearse/internal/input"
)

// maxText limits the size of a message or request.
const maxText = 64 << 20

// ReadText reads a text, such as the message, from a file, or from stdin if its name is "-". Errors
// name the text by what.
func ReadText(ctx context.Context, what, name string, stdin io.Reader) (string, error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return "", fmt.Errorf("read the %s: %w", what, err)
		}
		defer file.Close()
		stdin = file
	}
	data, err := input.ReadAll(ctx, stdin, maxText)
	if err != nil {
		return "", fmt.Errorf("read the %s: %w", what, err)
	}
	return string(data), nil
}

// Settings returns the settings with which a host calls this program. Paths become absolute:
// a host calls from folders of its own choice.
func Settings(host hook.Host, cfg hook.Config) (hook.Settings, error) {
	for _, path := range []*string{&cfg.State, &cfg.Log} {
		if *path == "" {
			continue
		}
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return hook.Settings{}, fmt.Errorf("find %s: %w", *path, err)
		}
		*path = filepath.ToSlash(absolute)
	}
	return hook.Install(host, executable(), cfg)
}

// executable returns the command that starts this program: its name if that is in the path, else
// its path.
func executable() string {
	const name = "rehearse"
	own, err := os.Executable()
	if err != nil {
		return name
	}
	if found, err := exec.LookPath(name); err == nil {
		a, errA := os.Stat(found)
		b, errB := os.Stat(own)
		if errA == nil && errB == nil && os.SameFile(a, b) {
			return name
		}
	}
	return filepath.ToSlash(own)
}
