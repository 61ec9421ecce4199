package coding

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// Programs finds the programs of coding agents on this machine, each once. The zero value
// uses the environment of this process. It is safe for concurrent use.
type Programs struct {
	// Getenv reads the variables that name programs; default: os.Getenv.
	Getenv func(string) string
	// Look finds a program by name or path; default: exec.LookPath.
	Look func(string) (string, error)

	mu    sync.Mutex
	known map[string]program
	slots chan struct{} // each session occupies one
}

// enter waits until another session may begin. The programs are large and slow to start: if
// there were more of them than processors, their turns would time out.
func (p *Programs) enter(ctx context.Context) (leave func(), err error) {
	p.mu.Lock()
	if p.slots == nil {
		p.slots = make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))
	}
	slots := p.slots
	p.mu.Unlock()
	select {
	case slots <- struct{}{}:
		return sync.OnceFunc(func() { <-slots }), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// program is an installed program.
type program struct{ path, version string }

// installs are the commands that install the programs.
var installs = map[string]string{
	"claude":   "npm install -g @anthropic-ai/claude-code",
	"codex":    "npm install -g @openai/codex",
	"copilot":  "npm install -g @github/copilot",
	"gemini":   "npm install -g @google/gemini-cli",
	"opencode": "npm install -g opencode-ai",
	"qwen":     "npm install -g @qwen-code/qwen-code",
}

// variable returns the variable that names the program of an agent, such as REHEARSE_CLAUDE.
func variable(agent string) string { return "REHEARSE_" + strings.ToUpper(agent) }

// find finds an agent's program by its variable, else in PATH, and reads its version.
func (p *Programs) find(ctx context.Context, agent string) (program, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found, ok := p.known[agent]; ok {
		return found, nil
	}
	getenv, look := p.environment()
	name, named := agent, getenv(variable(agent))
	if named != "" {
		name = named
	}
	path, err := look(name)
	if err == nil {
		path, err = filepath.Abs(path) // it is started in another folder
	}
	switch {
	case err != nil && named != "":
		return program{}, app.Errorf(app.Unusable, "%s names %q, which cannot be run: %w", variable(agent), named, err)
	case err != nil:
		return program{}, app.Errorf(app.Absent,
			"the program %s is not on this machine; install it (%s), or set %s to its path",
			agent, installs[agent], variable(agent))
	}
	version, err := readVersion(ctx, path)
	if err != nil {
		return program{}, app.Errorf(app.Unusable, "ask %s for its version: %w", agent, err)
	}
	if p.known == nil {
		p.known = map[string]program{}
	}
	p.known[agent] = program{path, version}
	return p.known[agent], nil
}

// commandVariable names the program of rehearse for turns through a shell, for a process that
// drives scenarios and is not rehearse itself, such as a test.
const commandVariable = "REHEARSE_PROGRAM"

// commandLine finds the program of rehearse: this one, or that of its variable.
func (p *Programs) commandLine() (program, error) {
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasSuffix(info.Path, "/cmd/rehearse") {
		self, err := os.Executable()
		if err != nil {
			return program{}, app.Errorf(app.Unusable, "find this program: %w", err)
		}
		return program{path: self}, nil
	}
	getenv, look := p.environment()
	named := getenv(commandVariable)
	if named == "" {
		return program{}, app.Errorf(app.Absent,
			"this process is not the program rehearse, which the turns start; let %s name it", commandVariable)
	}
	path, err := look(named)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return program{}, app.Errorf(app.Unusable, "%s names %q, which cannot be run: %w", commandVariable, named, err)
	}
	return program{path: path}, nil
}

// environment returns Getenv and Look, or their defaults.
func (p *Programs) environment() (getenv func(string) string, look func(string) (string, error)) {
	getenv, look = p.Getenv, p.Look
	if getenv == nil {
		getenv = os.Getenv //nolint:forbidigo // the default of Programs.Getenv
	}
	if look == nil {
		look = exec.LookPath
	}
	return getenv, look
}

// versionTimeout limits how long a program may take to print its version.
const versionTimeout = 30 * time.Second

var versionText = lazyregexp.New(`\b\d+\.\d+\.\d+[-.0-9A-Za-z]*`)

// readVersion runs a program for its version, with a temporary home.
func readVersion(ctx context.Context, path string) (string, error) {
	home, err := os.MkdirTemp("", "rehearse-version-")
	if err != nil {
		return "", fmt.Errorf("make a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(home) }()
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	search := os.Getenv("PATH") //nolint:forbidigo // a program needs it
	cmd.Env = []string{"PATH=" + search, "HOME=" + home, "CODEX_HOME=" + home, "TMPDIR=" + home}
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return "", err
	}
	version := versionText().FindString(out.String())
	if version == "" {
		return "", errors.New("it told none")
	}
	return version, nil
}
