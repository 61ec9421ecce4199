package status_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/internal/status"
)

func TestStatus(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/internal/status")
}

type ending string

var table = []status.Row[ending]{{"done", 0, "all is well"}, {"lost", 7, "nothing is"}}

var _ = Describe("A table of statuses", func() {
	It("knows the exit codes, and 1 for what it does not have", func() {
		Expect(status.ExitCode(table, "done")).To(Equal(0))
		Expect(status.ExitCode(table, "lost")).To(Equal(7))
		Expect(status.ExitCode(table, "?")).To(Equal(1))
	})

	It("parses its own statuses alone", func() {
		Expect(status.Parse(table, []byte("lost"), "a run")).To(Equal(ending("lost")))
		_, err := status.Parse(table, []byte("Lost"), "a run")
		Expect(err).To(MatchError(`"Lost" is not a status of a run`))
	})
})
