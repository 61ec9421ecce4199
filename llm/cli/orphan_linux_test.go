package cli_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

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
