// Package container_test tests the program in a container, as it is deployed. It
// needs Docker but downloads no images.
package container_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestContainer(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "test/container")
}
