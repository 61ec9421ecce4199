package store_test

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
)

func TestMain(m *testing.M) {
	runChild()
	os.Exit(m.Run())
}

func TestStore(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "interview store")
}

// beClaimed matches the error of a claim that another process holds.
func beClaimed() types.GomegaMatcher {
	return MatchError(ContainSubstring("another process serves it"))
}
