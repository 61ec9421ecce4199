package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// versionTimeout limits how long a program may take to print its version. Copilot unpacks itself first.
const versionTimeout = 20 * time.Second

var versionText = lazyregexp.New(`\b(\d{1,6})\.(\d{1,6})\.(\d{1,6})\b`)

// VersionNote asks the program of an adapter of this package for its version. It returns a note for the user
// if that is older than the tested version, or cannot be read; otherwise "". Newer versions are not noted:
// the adapters ignore unknown events, and report an answer in which all are unknown.
func VersionNote(ctx context.Context, a llm.Adapter) string {
	b, ok := a.(*adapter)
	if !ok || b.agent.tested == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	out := child.Tail{}
	end, err := child.Run(ctx, child.Program{
		Argv: append(b.program(), "--version"), Dir: b.cfg.Dir, Env: b.environment(), Stdout: &out, Grace: b.cfg.Grace,
	})
	if err == nil {
		err = end.Cause
	}
	if err == nil && end.Code != 0 {
		err = errors.New(end.State)
	}
	return versionNote(b.agent, out.String(), err)
}

// versionNote returns the note about the output of "--version".
func versionNote(a agent, printed string, err error) string {
	found := versionText().FindString(printed)
	switch {
	case err != nil:
		return fmt.Sprintf("cannot read the version of %s: %s --version: %s; it was tested with %s", a.id, a.program, err, a.tested)
	case found == "":
		return fmt.Sprintf("cannot read the version of %s: %s --version printed %q; it was tested with %s",
			a.id, a.program, sanitize.Line(printed, maxDetail), a.tested)
	case older(found, a.tested):
		return fmt.Sprintf("%s %s is older than %s, the tested version, and may lack flags or events; update it with %q",
			a.id, found, a.tested, a.install)
	}
	return ""
}

// older reports whether a version precedes another one.
func older(version, than string) bool {
	a, b := versionText().FindStringSubmatch(version), versionText().FindStringSubmatch(than)
	if a == nil || b == nil {
		return false
	}
	for i := 1; i < len(a); i++ {
		x, _ := strconv.Atoi(a[i])
		y, _ := strconv.Atoi(b[i])
		if x != y {
			return x < y
		}
	}
	return false
}
