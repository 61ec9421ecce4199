package cli

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// gitTime limits the time to ask git.
const gitTime = 5 * time.Second

// origin returns the origin of the source code in the current folder, according to git, the environment
// of a CI system, and the labels "branch" and "commit", which have priority. The folder out is not a part of it.
func (a *app) origin(ctx context.Context, out string, labels map[string]string) history.Origin {
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	o := history.Origin{}
	if text, err := git(ctx, "status", "--porcelain=v2", "--branch", "--untracked-files=normal", "--ignore-submodules=all", "-z"); err == nil {
		var untracked []string
		o, untracked = parseGitStatus(text)
		o.Untracked = len(untracked)
		if top, err := git(ctx, "rev-parse", "--show-toplevel"); out != "" && o.Untracked > 0 && err == nil {
			o.Untracked -= len(slices.DeleteFunc(untracked, func(path string) bool {
				return !holdsOnly(filepath.Join(strings.TrimSpace(top), path), out)
			}))
		}
	}
	o.Branch = cmp.Or(labels["branch"], a.firstOf("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME",
		"CI_COMMIT_REF_NAME", "BUILDKITE_BRANCH"), o.Branch)
	o.Commit = cmp.Or(labels["commit"], o.Commit, a.firstOf("GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT"))
	o.CI = a.firstOf("CI_JOB_URL", "BUILDKITE_BUILD_URL")
	if run := a.getenv("GITHUB_RUN_ID"); run != "" {
		o.CI = a.getenv("GITHUB_SERVER_URL") + "/" + a.getenv("GITHUB_REPOSITORY") + "/actions/runs/" + run
	}
	o.CI = sanitize.MaskURL(o.CI)
	o.Command = a.commandLine()
	return o
}

// git returns the output of a command of git that only reads. The configuration of the repository must not start a program.
func git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-optional-locks", "-c", "core.fsmonitor=false"}, args...)...)
	cmd.WaitDelay = time.Second
	text, err := cmd.Output()
	return string(text), err
}

// holdsOnly reports whether path is the folder inner, or has nothing but the way to it.
func holdsOnly(path, inner string) bool {
	want, err := os.Stat(inner)
	if err != nil {
		return false
	}
	for {
		if found, err := os.Stat(path); err != nil || os.SameFile(found, want) {
			return err == nil
		}
		entries, err := os.ReadDir(path)
		if err != nil || len(entries) != 1 || !entries[0].IsDir() {
			return false
		}
		path = filepath.Join(path, entries[0].Name())
	}
}

// user returns who runs this process: the user of the CI system, or of the operating system; empty if it is unknown.
func (a *app) user() string {
	if name := a.firstOf("GITHUB_ACTOR", "GITLAB_USER_LOGIN", "BUILDKITE_BUILD_CREATOR"); name != "" {
		return name
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// commandLine returns the command line of this process without secrets: those of the environment, those with a
// known form, and the users and queries of addresses.
func (a *app) commandLine() string {
	words := []string{"rehearse"}
	for _, word := range a.args {
		if flag, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(word, "-") && strings.Contains(value, "://") {
			word = flag + "=" + sanitize.MaskURL(value)
		} else if strings.Contains(word, "://") {
			word = sanitize.MaskURL(word)
		}
		words = append(words, word)
	}
	return redactor().Text(format.ShellLine(words...))
}

// firstOf returns the first variable of the environment that is not empty.
func (a *app) firstOf(names ...string) string {
	for _, name := range names {
		if value := a.getenv(name); value != "" {
			return value
		}
	}
	return ""
}

// parseGitStatus reads git status --porcelain=v2 --branch -z: two headers of interest, and an entry for each file that differs.
// untracked are the paths of files and folders that git neither tracks nor ignores, from the top folder of the repository.
func parseGitStatus(text string) (o history.Origin, untracked []string) {
	for line := range strings.SplitSeq(text, "\x00") {
		header, isHeader := strings.CutPrefix(line, "# ")
		name, value, _ := strings.Cut(header, " ")
		path, isUntracked := strings.CutPrefix(line, "? ")
		switch {
		case isUntracked:
			untracked = append(untracked, path)
		case !isHeader:
			o.Dirty = o.Dirty || line != ""
		case name == "branch.oid" && value != "(initial)":
			o.Commit = value
		case name == "branch.head" && value != "(detached)":
			o.Branch = value
		}
	}
	return o, untracked
}
