package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

const (
	// maxOutput limits the output of a run of git, in bytes.
	maxOutput = 64 << 20
	// grace is the time in which git must end after SIGTERM.
	grace = 2 * time.Second
)

// neutral are settings that keep git from starting programs and from using the network.
var neutral = []string{
	"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false",
	"-c", "core.sshCommand=false", "-c", "protocol.allow=never", "-c", "core.alternateRefsCommand=",
	"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "i18n.commitEncoding=UTF-8",
	"-c", "submodule.recurse=false", "-c", "core.longpaths=true", "-c", "index.sparse=false", "-c", "core.splitIndex=false",
}

// keptVariables are the environment variables that git receives.
var keptVariables = []string{
	"PATH", "HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "TMPDIR", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE",
	"GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
}

// gitError is the failure of a run of git.
type gitError struct {
	command string // such as "write-tree"
	code    int    // the exit status
	output  string // the end of standard error
}

func (e *gitError) Error() string {
	if e.output == "" {
		return fmt.Sprintf("git %s failed with exit status %d", e.command, e.code)
	}
	return fmt.Sprintf("git %s: %s", e.command, e.output)
}

// repository runs git on the repository of the user. Only commands may be run that start no program of
// its configuration: they do not read or write files of the work tree.
func (t *Tree) repository(ctx context.Context, args ...string) (string, error) {
	return t.git(ctx, "", nil, args)
}

// own runs git with the private git folder and its index.
func (t *Tree) own(ctx context.Context, stdin string, args ...string) (string, error) {
	return t.git(ctx, stdin, t.ownVariables(), args)
}

func (t *Tree) ownVariables() []string {
	return []string{
		"GIT_DIR=" + t.private, "GIT_WORK_TREE=" + t.dir, "GIT_INDEX_FILE=" + t.index(), "GIT_OBJECT_DIRECTORY=" + t.objects(),
	}
}

func (t *Tree) index() string { return filepath.Join(t.private, "index") }

// objects returns the folder that receives objects.
func (t *Tree) objects() string {
	if t.options.Record {
		return filepath.Join(t.common, "objects")
	}
	return filepath.Join(t.private, "objects")
}

func (t *Tree) git(ctx context.Context, stdin string, variables, args []string) (string, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return "", ErrNoGit
	}
	ctx, cancel := context.WithTimeout(ctx, t.options.Timeout)
	defer cancel()
	var errs child.Tail
	out := limited{limit: maxOutput}
	end, err := child.Run(ctx, child.Program{
		Argv: append(append([]string{"git"}, neutral...), args...), Path: program, Dir: t.dir, Env: environment(variables),
		Stdin: stdin, Stdout: &out, Stderr: &errs, Grace: grace,
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("git %s: %w", args[0], err)
	case errors.Is(end.Cause, context.DeadlineExceeded):
		return "", fmt.Errorf("git %s did not end within %s", args[0], t.options.Timeout)
	case end.Cause != nil:
		return "", fmt.Errorf("git %s: %w", args[0], end.Cause)
	case end.Code != 0:
		return out.String(), &gitError{args[0], end.Code, sanitize.Line(errs.String(), 500)}
	}
	return out.String(), nil
}

func environment(more []string) []string {
	env := []string{"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_LITERAL_PATHSPECS=1"}
	for _, name := range keptVariables {
		if value, set := os.LookupEnv(name); set { //nolint:forbidigo // git needs PATH, HOME and the like of the user
			env = append(env, name+"="+value)
		}
	}
	return append(env, more...)
}

// limited is a buffer that returns ErrTooLarge beyond a limit.
type limited struct {
	bytes.Buffer
	limit int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > l.limit {
		return 0, fmt.Errorf("%w: git listed more than %d MB", ErrTooLarge, l.limit>>20)
	}
	return l.Buffer.Write(p)
}

// plainSettings are the keys of the repository's configuration that hold in the private git folder: values
// that change how files are read and written, and that name no program.
var plainSettings = map[string]bool{
	"core.autocrlf": true, "core.eol": true, "core.safecrlf": true, "core.filemode": true, "core.symlinks": true,
	"core.ignorecase": true, "core.precomposeunicode": true, "core.protecthfs": true, "core.protectntfs": true,
	"core.excludesfile": true, "core.sparsecheckout": true, "core.sparsecheckoutcone": true, "core.checkstat": true,
	"core.trustctime": true, "core.checkroundtripencoding": true, "extensions.objectformat": true,
}

// prepare writes the private git folder and reads the last commit into its index.
func (t *Tree) prepare(ctx context.Context) error {
	config, err := t.configuration(ctx)
	if err != nil {
		return err
	}
	files := map[string]string{
		"config": config, "HEAD": "ref: refs/heads/none\n",
		"objects/info/alternates": filepath.Join(t.common, "objects") + "\n",
	}
	for _, name := range []string{"exclude", "attributes"} { // "sparse-checkout" belongs to each work tree
		files["info/"+name] = readSmall(filepath.Join(t.common, "info", name))
	}
	files["info/sparse-checkout"] = readSmall(filepath.Join(t.gitDir, "info", "sparse-checkout"))
	if err := os.MkdirAll(filepath.Join(t.private, "refs"), 0o700); err != nil {
		return err
	}
	for name, text := range files {
		if text == "" {
			continue
		}
		path := filepath.Join(t.private, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return t.readHead(ctx)
}

// configuration returns the configuration file of the private git folder.
func (t *Tree) configuration(ctx context.Context) (string, error) {
	listed, err := t.repository(ctx, "config", "--list", "-z")
	if err != nil {
		return "", err
	}
	var lines strings.Builder
	lines.WriteString("[core]\n\tbare = false\n\tbigFileThreshold = 4g\n\trepositoryformatversion = 1\n")
	lines.WriteString("[lfs]\n\tstorage = " + quoteSetting(filepath.Join(t.common, "lfs")) + "\n")
	for entry := range strings.SplitSeq(listed, "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		if section, name, ok := strings.Cut(key, "."); ok && plainSettings[key] {
			fmt.Fprintf(&lines, "[%s]\n\t%s = %s\n", section, name, quoteSetting(value))
		}
	}
	return lines.String(), nil
}

// quoteSetting quotes a value for a configuration file of git.
func quoteSetting(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(value) + `"`
}

// readHead fills the private index with the files of the last commit. The user's index, if it can be
// read, provides times and sizes, so that unchanged files need not be read.
func (t *Tree) readHead(ctx context.Context) error {
	head, err := t.head(ctx)
	if err != nil {
		return err
	}
	if head == "" {
		_, err := t.own(ctx, "", "read-tree", "--empty")
		return err
	}
	if copyFile(filepath.Join(t.gitDir, "index"), t.index()) == nil {
		if _, err := t.own(ctx, "", "read-tree", "--reset", head); err == nil {
			return nil
		}
		_ = os.Remove(t.index())
	}
	_, err = t.own(ctx, "", "read-tree", head)
	return err
}

// head returns the current commit; empty in a repository without commits.
func (t *Tree) head(ctx context.Context) (string, error) {
	return t.resolve(ctx, "HEAD")
}

// resolve returns the commit of a reference; empty if there is no such reference.
func (t *Tree) resolve(ctx context.Context, ref string) (string, error) {
	out, err := t.repository(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	var failed *gitError
	if errors.As(err, &failed) && failed.code == 1 && failed.output == "" {
		return "", nil
	}
	return strings.TrimSpace(out), err
}
