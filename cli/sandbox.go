package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/agents/loop"
	persistcli "github.com/rehearse-dev/rehearse/agents/persist/cli"
	"github.com/rehearse-dev/rehearse/cli/config"
	"github.com/rehearse-dev/rehearse/internal/sandbox"
	"github.com/rehearse-dev/rehearse/internal/tempdir"
	"github.com/rehearse-dev/rehearse/llm/cli"
)

// enclosure is the sandbox of a run; nil without one.
type enclosure struct {
	wrapper   []string // precedes command lines
	temporary *tempdir.Folder
	// in returns the wrapper for another folder and a temporary folder.
	in func(dir, temporary string) ([]string, error)
}

// enclose prepares the sandbox of the flag --sandbox for agents of a backend that work in dir.
func (a *app) enclose(ctx context.Context, flags *safetyFlags, backend, dir string) (*enclosure, error) {
	if !flags.sandbox {
		return nil, nil //nolint:nilnil // no sandbox
	}
	if err := sandbox.Check(ctx); err != nil {
		return nil, fmt.Errorf("--sandbox: %w; or leave out --sandbox and rely on --access", err)
	}
	temporary, err := tempdir.New("rehearse-sandbox")
	if err != nil {
		return nil, fmt.Errorf("--sandbox: %w", err)
	}
	e := &enclosure{temporary: temporary, in: func(dir, temporary string) ([]string, error) {
		spec, err := a.sandboxOf(flags.sandboxWrite, backend, dir, temporary)
		if err != nil {
			return nil, err
		}
		return sandbox.Wrapper(spec)
	}}
	if e.wrapper, err = e.in(dir, temporary.Path); err != nil {
		e.close()
		return nil, fmt.Errorf("--sandbox: %w", err)
	}
	return e, nil
}

// encloseLoop prepares the sandbox for the agent and the checks of a loop.
func (a *app) encloseLoop(ctx context.Context, flags loopFlags) (*enclosure, error) {
	if flags.sandbox && flags.backend == backendOpenAI {
		return nil, errors.New("--sandbox is for agents that are programs, and the backend openai only answers")
	}
	return a.enclose(ctx, &flags.safetyFlags, flags.backend, ".")
}

// encloseJob prepares the sandbox for the workers and checks of a plan.
func (a *app) encloseJob(ctx context.Context, job *persistcli.Job, flags *superviseFlags) (*enclosure, error) {
	if !flags.sandbox {
		return nil, nil //nolint:nilnil // no sandbox
	}
	if err := job.Prepare(); err != nil {
		return nil, err
	}
	return a.encloseAgent(ctx, &flags.safetyFlags, &flags.agentFlags, job.Folder)
}

// encloseAgent prepares the sandbox for an agent of the backend of the flags, or of the configuration.
func (a *app) encloseAgent(ctx context.Context, safety *safetyFlags, agent *agentFlags, dir string) (*enclosure, error) {
	if !safety.sandbox {
		return nil, nil //nolint:nilnil // no sandbox
	}
	configured, err := config.Read(agent.config)
	if err != nil {
		return nil, err
	}
	file := configured.Loop
	return a.enclose(ctx, safety, cmp.Or(agent.backend, file.Backend, loop.Defaults().Backend), dir)
}

// close removes temporary files.
func (e *enclosure) close() {
	if e != nil {
		_ = e.temporary.Remove()
	}
}

// arguments returns the arguments that precede command lines.
func (e *enclosure) arguments() []string {
	if e == nil {
		return nil
	}
	return e.wrapper
}

// argumentsIn returns the arguments for another folder, which is writable in place of the first one.
func (e *enclosure) argumentsIn(dir string) ([]string, error) {
	if e == nil {
		return nil, nil
	}
	temporary, err := os.MkdirTemp(e.temporary.Path, "task-")
	if err != nil {
		return nil, err
	}
	return e.in(dir, temporary)
}

// sandboxOf returns what agents may write: their folder, a temporary folder, the state of the
// backend's program and further paths of the user.
func (a *app) sandboxOf(more []string, backend, dir, temporary string) (s sandbox.Spec, err error) {
	if s.Dir, err = realPath(dir); err != nil {
		return s, err
	}
	for _, name := range []string{"tmp", "cache"} {
		if err := os.Mkdir(filepath.Join(temporary, name), 0o700); err != nil {
			return s, err
		}
	}
	s.Env = []string{
		"TMPDIR=" + filepath.Join(temporary, "tmp"), "XDG_CACHE_HOME=" + filepath.Join(temporary, "cache"),
		"GOCACHE=" + filepath.Join(temporary, "cache", "go-build"), "npm_config_cache=" + filepath.Join(temporary, "cache", "npm"),
	}
	s.Write = []string{s.Dir, temporary}
	for _, path := range more {
		real, err := realPath(path)
		if err != nil {
			return s, fmt.Errorf("--sandbox-write %s: %w", path, err)
		}
		s.Write = append(s.Write, real)
	}
	for _, name := range []string{runsFolder, ".rehearse"} { // records of the run, which agents must not change
		if real, err := realPath(filepath.Join(s.Dir, name)); err == nil {
			s.Protect = append(s.Protect, real)
		}
	}
	return s, errors.Join(protectGit(&s), a.addState(&s, backend))
}

// realPath returns the absolute path of an existing file without symbolic links, as mounts need it.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// protectGit protects the parts of a repository that name programs, which the user's git would start.
func protectGit(s *sandbox.Spec) error {
	git := filepath.Join(s.Dir, ".git")
	info, err := os.Lstat(git)
	switch {
	case err != nil:
		return nil //nolint:nilerr // there is none
	case !info.IsDir():
		s.Protect = append(s.Protect, git)
		return nil
	}
	hooks := filepath.Join(git, "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		return err
	}
	s.Write = append(s.Write, git) // as a mount of its own it cannot be replaced
	s.Protect = append(s.Protect, filepath.Join(git, "config"), hooks)
	return nil
}

// addState lets the backend's program write its state.
func (a *app) addState(s *sandbox.Spec, backend string) error {
	state := cli.StateOf(backend, a.getenv)
	for _, folder := range state.Folders {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		real, err := realPath(folder)
		if err != nil {
			return err
		}
		s.Write = append(s.Write, real)
	}
	for _, paths := range []struct {
		to    *[]string
		names []string
	}{{&s.Write, state.Files}, {&s.Protect, state.Settings}} {
		for _, path := range paths.names {
			if real, err := realPath(path); err == nil {
				*paths.to = append(*paths.to, real)
			}
		}
	}
	return nil
}
