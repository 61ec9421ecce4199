package window_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestWindow(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/persist/window")
}
