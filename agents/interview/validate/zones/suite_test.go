package zones_test

import (
	"flag"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestZones(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/interview/validate/zones")
}
