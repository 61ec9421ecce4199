package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
)

// The variables that control a child process of a spec.
const (
	childDSN     = "REHEARSE_STORETEST_DSN"
	childCommits = "REHEARSE_STORETEST_COMMITS" // the number of commits; 0 means unlimited
)

// childSession is the id of the session that children write to.
const childSession = "written-by-children"

// runChild writes commits and exits if a spec started this process for it; otherwise it
// returns. Call it first in TestMain.
func runChild() {
	dsn := os.Getenv(childDSN)
	if dsn == "" {
		return
	}
	commits, err := strconv.Atoi(os.Getenv(childCommits))
	if err == nil {
		err = write(context.Background(), dsn, commits)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// write commits one answer after the other, and prints the version of each once it is
// stored. After a conflict with another writer it tries again.
func write(ctx context.Context, dsn string, commits int) error {
	s, err := store.Open(ctx, dsn)
	if err != nil {
		return err
	}
	fmt.Println("open")
	err = s.Create(ctx, session.Session{ID: childSession, Candidate: "c", Step: session.Block1}, session.Change{})
	if err != nil && !errors.Is(err, session.ErrConflict) {
		return err
	}
	for done := 0; commits == 0 || done < commits; {
		n, err := s.Load(ctx, childSession)
		if err != nil {
			return err
		}
		step := int(n.Version)
		n.Messages, n.Shown, n.Calls = 2*step, 2*step, step
		version, err := s.Commit(ctx, n, stepOf(step))
		switch {
		case err == nil:
			done++
		case errors.Is(err, session.ErrConflict):
			continue
		default:
			return err
		}
		if _, err := fmt.Println(version); err != nil {
			return err // nobody listens any more
		}
	}
	return s.Close()
}

// child is a process that writes.
type child struct {
	cmd    *exec.Cmd
	lines  *bufio.Scanner
	stderr strings.Builder
}

func startChild(ctx context.Context, dsn string, commits int) *child {
	GinkgoHelper()
	self, err := os.Executable()
	Expect(err).NotTo(HaveOccurred())
	c := &child{cmd: exec.CommandContext(ctx, self)}
	c.cmd.Env = append(os.Environ(), childDSN+"="+dsn, childCommits+"="+strconv.Itoa(commits))
	c.cmd.Stderr = &c.stderr
	stdout, err := c.cmd.StdoutPipe()
	Expect(err).NotTo(HaveOccurred())
	c.lines = bufio.NewScanner(stdout)
	Expect(c.cmd.Start()).To(Succeed())
	return c
}

// next waits for the next version that the child made; false means that it ended.
func (c *child) next() (version int64, ok bool) {
	GinkgoHelper()
	for c.lines.Scan() {
		if c.lines.Text() == "open" {
			continue
		}
		version, err := strconv.ParseInt(c.lines.Text(), 10, 64)
		Expect(err).NotTo(HaveOccurred())
		return version, true
	}
	return 0, false
}

// expectWhole checks that a session which children wrote has all of its commits,
// each of them whole, and returns its version. If a commit of a killed child still
// arrives at a server, it checks again.
func expectWhole(ctx SpecContext, s session.Store) int64 {
	GinkgoHelper()
	for {
		got, err := readAll(ctx, s, childSession)
		if errors.Is(err, session.ErrNotFound) {
			return 0
		}
		Expect(err).NotTo(HaveOccurred())
		if version := got.Session.Version; load(ctx, s, childSession).Version == version {
			expectCommits(got)
			return version
		}
	}
}

func expectCommits(got everything) {
	GinkgoHelper()
	commits := int(got.Session.Version) - 1
	var want session.Change
	for i := 1; i <= commits; i++ {
		c := stepOf(i)
		want.Messages = append(want.Messages, c.Messages...)
		want.Answers = append(want.Answers, c.Answers...)
		want.Calls = append(want.Calls, c.Calls...)
		want.Queue = c.Queue
	}
	Expect(got.Session.Messages).To(Equal(2 * commits))
	Expect(got.Session.Calls).To(Equal(commits))
	Expect(got.Session.Queue).To(Equal(want.Queue))
	Expect(got.Messages).To(Equal(want.Messages))
	Expect(got.Answers).To(Equal(want.Answers))
	Expect(got.Calls).To(Equal(want.Calls))
}

// processContract registers the specs of a store that several processes share.
func processContract(driver string, fresh freshDSN) {
	It("is opened and written by several processes at once with "+driver, func(ctx SpecContext) {
		const processes, commits = 4, 15
		dsn := fresh(ctx)
		seen := make(chan int64, processes*commits)
		together(processes, func(int) {
			defer GinkgoRecover()
			c := startChild(ctx, dsn, commits)
			for version, ok := c.next(); ok; version, ok = c.next() {
				seen <- version
			}
			Expect(c.cmd.Wait()).To(Succeed(), c.stderr.String())
		})
		close(seen)
		versions := map[int64]bool{}
		for version := range seen {
			Expect(versions).NotTo(HaveKey(version), "two processes were told that they made version %d", version)
			versions[version] = true
		}
		Expect(versions).To(HaveLen(processes * commits))
		Expect(expectWhole(ctx, openStore(ctx, driver, dsn))).To(BeEquivalentTo(processes*commits + 1))
	})
	kills(driver, fresh)
}
