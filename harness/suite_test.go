package harness_test

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/test/demo"
)

func TestMain(m *testing.M) {
	harness.Main(kinds.All()...)
	os.Exit(withDemo(m.Run))
}

// withDemo runs the tests with the demo agent, which is this program, in PATH.
func withDemo(tests func() int) int {
	demo.Main()
	remove, err := demo.InPath()
	if err != nil {
		panic(err)
	}
	defer remove()
	return tests()
}

func TestHarness(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "harness")
}
