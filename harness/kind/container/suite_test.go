package container_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// Specs with Docker are in test/container.
func TestContainer(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "harness/kind/container")
}
