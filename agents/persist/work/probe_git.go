package work

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/worktree"
)

// gitTimeout is the time in which git must list ignored files.
const gitTimeout = 10 * time.Second

// ignored returns the files and folders in dir that git ignores, as relative paths with slashes. It is
// empty outside of a work tree and if git fails; then more files are searched.
func ignored(ctx context.Context, dir string) map[string]bool {
	if full, err := filepath.Abs(dir); err != nil || !worktree.Inside(full) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	// The configuration of the repository must not start a program.
	cmd := exec.CommandContext(ctx, "git", "-c", "core.fsmonitor=false",
		"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return nil
	}
	paths := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name = strings.TrimSuffix(name, "/"); name != "" && name != "." {
			paths[name] = true
		}
	}
	return paths
}
