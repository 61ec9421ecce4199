package sandbox_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

func TestSandbox(t *testing.T) {
	if err := sandbox.Check(context.Background()); err != nil {
		t.Skip(err)
	}
	RegisterFailHandler(Fail)
	RunSpecs(t, "internal/sandbox")
}

// place is a temporary folder with the folders "work", which may be written, and "other".
type place struct{ root, work, other string }

func newPlace() place {
	GinkgoHelper()
	root, err := filepath.EvalSymlinks(GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	p := place{root, filepath.Join(root, "work"), filepath.Join(root, "other")}
	for _, dir := range []string{p.work, p.other} {
		Expect(os.Mkdir(dir, 0o700)).To(Succeed())
	}
	return p
}

// run runs a shell script in the sandbox, and returns its output and exit status.
func (p place) run(ctx context.Context, s sandbox.Spec, script string) (string, int) {
	GinkgoHelper()
	s.Dir, s.Write = p.work, append(s.Write, p.work)
	wrapper, err := sandbox.Wrapper(s)
	Expect(err).NotTo(HaveOccurred())
	cmd := exec.CommandContext(ctx, wrapper[0], append(wrapper[1:], "sh", "-c", script)...)
	cmd.Env = append(os.Environ(), "HOME="+p.root)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		Expect(err).NotTo(HaveOccurred())
	}
	return strings.TrimSpace(string(out)), cmd.ProcessState.ExitCode()
}

var _ = Describe("a program in the sandbox", func() {
	It("writes to its folders and nowhere else", func(ctx SpecContext) {
		p := newPlace()
		outside, err := os.MkdirTemp("", "outside")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(os.RemoveAll, outside)
		out, code := p.run(ctx, sandbox.Spec{Env: []string{"PLACE=" + outside}}, `
			try() { if "$@" 2>/dev/null; then echo "could: $*"; fi; }
			try touch "$HOME/x"; try touch "$PLACE/x"; try touch ../x ../other/x; try touch /x; try mkdir /tmp/rehearse-x
			try rm -r ../other; try mv ../work ../moved; try ln -s / ../link
			try mount -o remount,rw / ; try umount /proc; try unshare -Urm mount -o remount,rw,bind /
			pwd; touch inside && mkdir -p a/b && echo text > a/b/file && rm inside && echo written`)
		Expect(out).To(Equal(p.work + "\nwritten"))
		Expect(code).To(BeZero())
		Expect(os.ReadFile(filepath.Join(p.work, "a/b/file"))).To(BeEquivalentTo("text\n"))
		Expect(p.other).To(BeADirectory())
		Expect(os.ReadDir(outside)).To(BeEmpty())
	})

	It("cannot change or replace protected paths in its folders", func(ctx SpecContext) {
		p := newPlace()
		git := filepath.Join(p.work, ".git")
		Expect(os.MkdirAll(filepath.Join(git, "hooks"), 0o700)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(git, "config"), []byte("safe\n"), 0o600)).To(Succeed())
		out, _ := p.run(ctx, sandbox.Spec{
			Write: []string{git}, Protect: []string{filepath.Join(git, "config"), filepath.Join(git, "hooks")},
		}, `cd .git; (echo evil > config) 2>/dev/null || echo kept
			touch hooks/pre-commit 2>/dev/null || echo kept; mv hooks old 2>/dev/null || echo kept
			echo x > new; mv new config 2>/dev/null || echo kept; cd ..; mv .git away 2>/dev/null || echo kept; touch .git/index && echo written`)
		Expect(out).To(Equal("kept\nkept\nkept\nkept\nkept\nwritten"))
		Expect(os.ReadFile(filepath.Join(git, "config"))).To(BeEquivalentTo("safe\n"))
	})

	It("returns the exit status, and that of a signal as a shell does", func(ctx SpecContext) {
		p := newPlace()
		_, code := p.run(ctx, sandbox.Spec{}, "exit 7")
		Expect(code).To(Equal(7))
		_, code = p.run(ctx, sandbox.Spec{}, "kill -KILL $$")
		Expect(code).To(Equal(137))
	})

	It("sees only its own processes, has no rights, and leaves none behind", func(ctx SpecContext) {
		p := newPlace()
		mark := "SANDBOX_SPEC=" + p.root
		out, code := p.run(ctx, sandbox.Spec{Env: []string{mark}}, `grep -E '^(Cap...|NoNewPrivs)' /proc/self/status | tr -d '\t' | sed 's/0000000000000000/0/'
			test -w /proc/sys/kernel/hostname && echo writable; kill -9 1; test -d /proc/1 && ! test -d /proc/`+strconv.Itoa(os.Getpid())+` && echo own
			exec >/dev/null 2>&1; setsid sleep 600 &`)
		Expect(out).To(Equal(strings.ReplaceAll(`CapInh:0 CapPrm:0 CapEff:0 CapBnd:0 CapAmb:0 NoNewPrivs:1 own`, " ", "\n")))
		Expect(code).To(BeZero())
		Expect(child.KillMarked(mark)).To(BeZero(), "processes that are left")
	})

	It("gets the replaced variables", func(ctx SpecContext) {
		out, _ := newPlace().run(ctx, sandbox.Spec{Env: []string{"HOME=/nowhere", "TMPDIR=/t"}}, `echo "$HOME $TMPDIR"`)
		Expect(out).To(Equal("/nowhere /t"))
	})
})

var _ = It("reports a program that is missing", func(ctx SpecContext) {
	wrapper, err := sandbox.Wrapper(sandbox.Spec{Dir: "/"})
	Expect(err).NotTo(HaveOccurred())
	out, err := exec.CommandContext(ctx, wrapper[0], append(wrapper[1:], "no-such-program")...).CombinedOutput()
	Expect(err).To(MatchError("exit status 127"))
	Expect(string(out)).To(ContainSubstring(`"no-such-program": executable file not found`))
})

var _ = It("needs absolute paths", func() {
	_, err := sandbox.Wrapper(sandbox.Spec{Dir: "here"})
	Expect(err).To(MatchError(ContainSubstring(`absolute paths, got "here"`)))
})
