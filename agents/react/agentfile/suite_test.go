package agentfile_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestAgentfile(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Agent files")
}
