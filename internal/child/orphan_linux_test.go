package child_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"

	"github.com/rehearse-dev/rehearse/internal/child"
)

// parent is the variable that makes this test binary a parent that runs a program
// which does not end.
const parent = "CHILD_TEST_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(parent) == "" {
		os.Exit(m.Run())
	}
	p := shell("echo $$; exec sleep 600", endless)
	p.Stdout = os.Stdout
	_, err := child.Run(context.Background(), p)
	fmt.Println("ended:", err)
}

var _ = It("leaves no program behind when this process is killed", func(ctx SpecContext) {
	self, err := os.Executable()
	Expect(err).NotTo(HaveOccurred())
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), parent+"=1")
	out := gbytes.NewBuffer()
	cmd.Stdout = out
	Expect(cmd.Start()).To(Succeed())
	Eventually(out).Should(gbytes.Say(`\d+\n`))
	group, err := strconv.Atoi(strings.TrimSpace(string(out.Contents())))
	Expect(err).NotTo(HaveOccurred())
	Expect(living(group)).To(HaveLen(1))
	Expect(cmd.Process.Kill()).To(Succeed())
	Expect(cmd.Wait()).NotTo(Succeed())
	Eventually(func() []string { return living(group) }).Should(BeEmpty())
})
