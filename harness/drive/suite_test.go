package drive_test

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/test/demo"
)

// TestMain lets this test binary act as the scripted command-line agents.
func TestMain(m *testing.M) {
	kinds.All().Main()
	demo.Main()
	os.Exit(m.Run())
}

func TestDrive(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "harness/drive")
}
