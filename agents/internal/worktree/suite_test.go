package worktree_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/internal/worktree"
)

func TestWorktree(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/internal/worktree")
}

// at is the time of all checkpoints.
var at = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

var record = worktree.Options{Record: true}

// folder is a temporary folder with a repository, used as its user does.
type folder string

// newFolder returns an empty folder without a repository.
func newFolder() folder {
	GinkgoHelper()
	dir, err := filepath.EvalSymlinks(GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	return folder(dir)
}

// newRepository returns a repository whose only commit has the file main.go.
func newRepository() folder {
	GinkgoHelper()
	f := newFolder()
	f.git("init", "--quiet", "--initial-branch=main")
	f.write("main.go", "package main\n")
	f.git("add", "-A")
	f.git("commit", "--quiet", "-m", "first")
	return f
}

func (f folder) path(name string) string { return filepath.Join(string(f), filepath.FromSlash(name)) }

func (f folder) write(name, text string) {
	GinkgoHelper()
	Expect(os.MkdirAll(filepath.Dir(f.path(name)), 0o700)).To(Succeed())
	Expect(os.WriteFile(f.path(name), []byte(text), 0o600)).To(Succeed())
}

func (f folder) remove(name string) {
	GinkgoHelper()
	Expect(os.RemoveAll(f.path(name))).To(Succeed())
}

// read returns the text of a file, "-" if there is none.
func (f folder) read(name string) string {
	text, err := os.ReadFile(f.path(name))
	if err != nil {
		return "-"
	}
	return string(text)
}

// git runs git as the user does and returns its trimmed output.
func (f folder) git(args ...string) string {
	GinkgoHelper()
	cmd := exec.Command("git", append([]string{
		"-c", "user.name=u", "-c", "user.email=u@localhost", "-c", "protocol.file.allow=always", "-c", "commit.gpgSign=false",
	}, args...)...)
	cmd.Dir = string(f)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "git %s: %s", strings.Join(args, " "), out)
	return strings.TrimRight(string(out), "\n")
}

func (f folder) open(ctx context.Context, options worktree.Options) *worktree.Tree {
	GinkgoHelper()
	tree, err := worktree.Open(ctx, string(f), options)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(tree.Close)
	return tree
}

// line opens the folder and a line of checkpoints with a first one.
func (f folder) line(ctx context.Context) (*worktree.Tree, *worktree.Line) {
	GinkgoHelper()
	tree := f.open(ctx, record)
	line, err := tree.Line(ctx, "rehearse/loop-1")
	Expect(err).NotTo(HaveOccurred())
	checkpoint(ctx, line, "before the run")
	return tree, line
}

func checkpoint(ctx context.Context, line *worktree.Line, message string) worktree.Checkpoint {
	GinkgoHelper()
	cp, _, err := line.Checkpoint(ctx, message, at)
	Expect(err).NotTo(HaveOccurred())
	return cp
}

func rollback(ctx context.Context, line *worktree.Line) worktree.Undone {
	GinkgoHelper()
	undone, err := line.Rollback(ctx, "iteration 2 failed", at)
	Expect(err).NotTo(HaveOccurred())
	return undone
}

func state(ctx context.Context, tree *worktree.Tree) worktree.State {
	GinkgoHelper()
	s, err := tree.State(ctx)
	Expect(err).NotTo(HaveOccurred())
	return s
}

func changes(ctx context.Context, tree *worktree.Tree, from, to worktree.State) worktree.Changes {
	GinkgoHelper()
	c, err := tree.Changes(ctx, from, to)
	Expect(err).NotTo(HaveOccurred())
	return c
}
