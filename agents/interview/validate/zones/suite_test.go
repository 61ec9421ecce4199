package zones_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestZones(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/interview/validate/zones")
}
