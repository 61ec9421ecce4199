package explore_test

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop/hook"
	"github.com/rehearse-dev/rehearse/mocks/agent"
	"github.com/rehearse-dev/rehearse/test/demo"
)

// TestMain makes this test binary act as the scripted command-line agents and the hook.
func TestMain(m *testing.M) {
	agent.Main()
	demo.Main()
	hook.Main()
	os.Exit(m.Run())
}

func TestExplore(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "harness/explore")
}
