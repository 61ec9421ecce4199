package harness_test

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/kinds"
)

func TestMain(m *testing.M) {
	harness.Main(kinds.All()...)
	os.Exit(m.Run())
}

func TestHarness(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "harness")
}
