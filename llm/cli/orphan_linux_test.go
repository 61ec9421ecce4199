package cli_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/rehearse-dev/rehearse/llm/cli"
)

// parent is the variable that makes this test binary a parent that calls an agent
// which does not answer, in the folder that it names.
const parent = "CLI_TEST_PARENT"

func TestMain(m *testing.M) {
	dir := os.Getenv(parent)
	if dir == "" {
		os.Exit(m.Run())
	}
	adapter, err := cli.New("exec", cli.Config{Dir: dir, Command: []string{"sh", "-c", "echo $$ > new; mv new group; exec sleep 600"}})
	if err == nil {
		_, err = adapter.Complete(context.Background(), user("Go."))
	}
	fmt.Println("ended:", err)
}

var _ = It("leaves no agent behind when this process is killed", func() {
	self, err := os.Executable()
	Expect(err).NotTo(HaveOccurred())
	dir := GinkgoT().TempDir()
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), parent+"="+dir)
	Expect(cmd.Start()).To(Succeed())
	var text []byte
	Eventually(func() (err error) { text, err = os.ReadFile(filepath.Join(dir, "group")); return err }).Should(Succeed())
	group, err := strconv.Atoi(strings.TrimSpace(string(text)))
	Expect(err).NotTo(HaveOccurred())
	Expect(members(group)).To(HaveLen(1))
	Expect(cmd.Process.Kill()).To(Succeed())
	Expect(cmd.Wait()).NotTo(Succeed())
	Eventually(func() []string { return members(group) }).Should(BeEmpty())
})

var _ = DescribeTable("ends the tools of an agent that did not finish, in process groups of their own, too",
	func(ctx SpecContext, command string, want types.GomegaMatcher) {
		if _, err := exec.LookPath("setsid"); err != nil {
			Skip("there is no setsid")
		}
		dir := GinkgoT().TempDir()
		tool := "setsid sh -c 'echo $$ > new; mv new group; exec sleep 600 >/dev/null 2>&1' & until [ -e group ]; do sleep 0.01; done; "
		adapter, err := cli.New("exec", cli.Config{Dir: dir, Command: []string{"sh", "-c", tool + command}})
		Expect(err).NotTo(HaveOccurred())
		stopped, stop := context.WithCancel(ctx)
		defer stop()
		ended := make(chan error, 1)
		go func() {
			_, err := adapter.Complete(stopped, user("Go."))
			ended <- err
		}()
		var text []byte
		Eventually(func() (err error) { text, err = os.ReadFile(filepath.Join(dir, "group")); return err }).Should(Succeed())
		group, err := strconv.Atoi(strings.TrimSpace(string(text)))
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { _ = syscall.Kill(-group, syscall.SIGKILL) })
		if strings.Contains(command, "sleep") {
			stop()
		}
		Eventually(ended).Should(Receive())
		Eventually(func() []string { return members(group) }).Should(want)
	},
	Entry("when it is stopped", "sleep 600", BeEmpty()),
	Entry("when it fails", "exit 3", BeEmpty()),
	Entry("but not when it is done", "echo done", HaveLen(1)),
)
