package store_test

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.Child()
	os.Exit(m.Run())
}

func TestStore(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "interview store")
}
