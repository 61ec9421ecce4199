package audit_test

import (
	"flag"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestAudit(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/interview/audit")
}
