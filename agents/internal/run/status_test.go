package run_test

import (
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
)

var _ = Describe("A status", func() {
	It("has an exit code, which is 1 if it is not known", func() {
		Expect(run.Done.ExitCode()).To(Equal(0))
		Expect(run.Interrupted.ExitCode()).To(Equal(130))
		Expect(run.Status("?").ExitCode()).To(Equal(1))
		Expect(run.Budget.Info("a cap was reached")).To(Equal(run.StatusInfo{Status: "budget", ExitCode: 7, Meaning: "a cap was reached"}))
	})

	It("is parsed from its name only", func() {
		var s run.Status
		Expect(json.Unmarshal([]byte(`"done_partial"`), &s)).To(Succeed())
		Expect(s).To(Equal(run.Partial))
		Expect(json.Unmarshal([]byte(`"Done"`), &s)).To(MatchError(ContainSubstring(`"Done" is not a status of a run`)))
	})
})
