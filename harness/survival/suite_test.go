package survival_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestSurvival(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "harness/survival")
}
