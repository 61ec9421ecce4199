package quickstart_test

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	_ "github.com/testcontainers/testcontainers-go"

	"github.com/rehearse-dev/rehearse/internal/quickstart"
)

// again says that this test program was started by a spec.
const again = "QUICKSTART_AGAIN"

// atStart is where processes were looked for when testcontainers-go was initialized.
var atStart = os.Getenv("HOST_PROC")

var restored = quickstart.Done()

func TestMain(m *testing.M) {
	if os.Getenv(again) != "" {
		_, _ = os.Stdout.WriteString(os.Getenv("HOST_PROC"))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestQuickStart(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "internal/quickstart")
}

var _ = Describe("A quick start", func() {
	It("hides the processes while the library is initialized, and no longer", func() {
		Expect(restored).To(Succeed())
		Expect(atStart).To(Equal(os.DevNull))
		_, set := os.LookupEnv("HOST_PROC")
		Expect(set).To(BeFalse())
	})

	It("keeps what somebody says themselves", func() {
		self, err := os.Executable()
		Expect(err).NotTo(HaveOccurred())
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), again+"=1", "HOST_PROC=/host/proc")
		Expect(cmd.Output()).To(BeEquivalentTo("/host/proc"))
	})

	It("is one: the library's own package does next to nothing", func() {
		self, err := os.Executable()
		Expect(err).NotTo(HaveOccurred())
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), again+"=1", "GODEBUG=inittrace=1")
		var trace []byte
		trace, err = cmd.CombinedOutput()
		Expect(err).NotTo(HaveOccurred())
		found := regexp.MustCompile(`init github.com/testcontainers/testcontainers-go/internal/core/bootstrap .* (\d+) allocs`).FindSubmatch(trace)
		Expect(found).NotTo(BeNil(), "the library has been rebuilt: is this package still needed?")
		allocations, err := strconv.Atoi(string(found[1]))
		Expect(err).NotTo(HaveOccurred())
		Expect(allocations).To(BeNumerically("<", 100), "thousands where it lists processes")
	})
})
