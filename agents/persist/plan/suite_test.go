package plan_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestPlan(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/persist/plan")
}

// maxTasks is the largest number of tasks of a plan.
const maxTasks = 10_000
