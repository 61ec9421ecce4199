package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// sandboxText matches messages about a sandbox that cannot start. Other failures of the check are ignored, such
// as an older version without the command.
var sandboxText = lazyregexp.New(`(?im)^.*(?:bwrap|bubblewrap|landlock|seccomp|namespace|linux-sandbox|sandbox-exec).*$`)

// CheckSandbox starts a command in the sandbox of an adapter's program, if its permissions use one. It returns an
// error if the sandbox cannot start: codex then reports no event about commands that it cannot run, and its
// answer may still claim success.
func CheckSandbox(ctx context.Context, a llm.Adapter) error {
	b, ok := a.(*adapter)
	if !ok || len(b.agent.sandboxCheck) == 0 || !b.confined() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	out := child.Tail{}
	end, err := child.Run(ctx, child.Program{
		Argv: slices.Concat(b.cfg.Wrapper, b.program(), b.agent.sandboxCheck), Dir: b.cfg.Dir, Env: b.environment(), Stdout: &out,
		Grace: b.cfg.Grace,
	})
	why := sandboxText().FindString(out.Lines())
	if err != nil || end.Cause != nil || end.Code == 0 || why == "" {
		return nil // the first call reports other problems of the program
	}
	return fmt.Errorf("%s cannot start its own sandbox here, so it could not run any command: %s; "+
		"switch it off with --access full, and use --sandbox or a container instead", b.agent.id, sanitize.Line(why, maxDetail))
}
