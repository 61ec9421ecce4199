package explored_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestExplored(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "explored")
}
