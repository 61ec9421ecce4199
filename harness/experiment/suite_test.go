package experiment_test

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks/agent"
)

// TestMain makes this test binary act as the scripted command-line agents, and as the
// experiment that a spec kills.
func TestMain(m *testing.M) {
	agent.Main()
	killed()
	os.Exit(m.Run())
}

func TestExperiment(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "harness/experiment")
}
