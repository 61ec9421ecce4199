package kinds_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestKinds(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "kinds")
}
