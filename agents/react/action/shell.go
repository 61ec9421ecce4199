package action

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// The actions that need an approval.
const (
	shellAction = "shell"
	editAction  = "edit"
)

// The time limits of a command of shell.
const (
	shellTimeout    = quantity.Duration(2 * time.Minute)
	maxShellTimeout = quantity.Duration(10 * time.Minute)
)

// approvedActions are offered if the approval allows any action.
var approvedActions = []standardAction{
	{
		shellAction, "{command, timeout}",
		"runs a command line of sh in the workspace; timeout: such as 30s, at most 10m (2m if left out)",
		do((*work).shell),
	},
	{
		editAction, "{path, old, new}",
		"replaces the one occurrence of a text in a file; old: the exact text with enough around it to occur once",
		do((*work).edit),
	},
}

type shellInput struct {
	Command string            `yaml:"command"`
	Timeout quantity.Duration `yaml:"timeout,omitempty"`
}

// shell runs a command line. On Linux the command has no more rights than its user: setuid programs do not
// work. It is not confined to the workspace, unless Options.Wrapper is a sandbox.
func (w *work) shell(in shellInput) (string, error) {
	limit := in.Timeout
	switch {
	case strings.TrimSpace(in.Command) == "" || strings.ContainsRune(in.Command, 0):
		return "", fail(RuleBadInput, "the command is empty, or has a NUL")
	case len(in.Command) > maxValue:
		return "", fail(RuleBadInput, "the command has more than %d bytes; write a file and run that", maxValue)
	case limit == 0:
		limit = shellTimeout
	case limit > maxShellTimeout:
		return "", fail(RuleBadInput, "the timeout %s is more than %s", limit, maxShellTimeout)
	}
	if err := w.gate.Approve(w.ctx, Request{Action: shellAction, Subject: in.Command}); err != nil {
		return "", err
	}
	if err := clock.Err(w.ctx); err != nil {
		return "", err
	}
	before := w.states()
	start := confined
	if len(w.wrapper) > 0 { // a sandbox needs these rights to start, and drops them itself
		start = nil
	}
	text, err := w.finish(shellAction, []string{"sh", "-c", in.Command}, limit, start)
	changed := changes(before, w.states())
	w.written = append(w.written, changed...)
	if len(changed) > 0 {
		text += "\n" + describeChanges(changed)
	}
	return text, err
}

// confined starts a program without administrative rights.
func confined(cmd *exec.Cmd) error {
	if err := child.Confine(); err != nil {
		return err
	}
	return cmd.Start()
}

// state is what changes when a file is written.
type state struct {
	size int64
	at   time.Time
	mode fs.FileMode
}

// states returns the state of each file of the workspace, except for those of skipped folders; nil if
// there are too many.
func (w *work) states() map[string]state {
	all := map[string]state{}
	err := fs.WalkDir(w.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // a file that vanished, or cannot be read, is no reason to stop
		case e.IsDir() && slices.Contains(skippedFolders, path.Base(name)):
			return fs.SkipDir
		case e.IsDir():
			return nil
		case len(all) == maxFiles:
			return errors.New("too many files")
		}
		if info, err := e.Info(); err == nil {
			all[filepath.ToSlash(name)] = state{info.Size(), info.ModTime(), info.Mode()}
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return all
}

// changes returns the files that were written, created or removed, sorted.
func changes(before, after map[string]state) []string {
	var all []string
	if before == nil || after == nil {
		return nil
	}
	for name, s := range after {
		if old, ok := before[name]; !ok || old != s {
			all = append(all, name)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// maxChanges is the largest number of changed files in an observation.
const maxChanges = 20

func describeChanges(changed []string) string {
	text := fmt.Sprintf("changed %s: %s", format.Plural(len(changed), "file"), strings.Join(changed[:min(len(changed), maxChanges)], ", "))
	if n := len(changed) - maxChanges; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
