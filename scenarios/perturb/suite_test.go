package perturb_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestPerturb(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "scenarios/perturb")
}
