package coding_test

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop/hook"
)

func TestMain(m *testing.M) {
	hook.Main() // does not return if this process is an agent's hook
	os.Exit(m.Run())
}

func TestCoding(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "harness/kind/coding")
}
