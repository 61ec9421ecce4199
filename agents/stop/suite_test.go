package stop_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestStop(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/stop")
}
