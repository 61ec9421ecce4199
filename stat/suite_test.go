package stat_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestStat(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "stat")
}
