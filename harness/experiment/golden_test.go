package experiment_test

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/result"
)

// pushed is a perturbed scenario. Its golden path is driven as well, with one more call.
const pushed = `name: sim/pushed
drive: {loop: {prompt: Work., max_iterations: 1, no_progress_limit: 0}}
backend: {model: gpt-4.1-mini, rules: [{text: DONE}]}
perturb: ["call=1:latency,first=2s"]
expect: {status: done}
`

var _ = Describe("The golden path of a perturbed scenario", Label("H-07"), func() {
	It("counts towards the same caps", func() {
		path := write(replace(replace(judging, "judged.yaml", "pushed.yaml"), `primary: {name: polite, expr: 'scores["polite"]', better: higher}`, "primary: {name: pass}"))
		Expect(os.WriteFile(filepath.Join(filepath.Dir(path), "pushed.yaml"), []byte(pushed), 0o600)).To(Succeed())
		e := loadFile(path)
		whole := carry(e, workers(1))
		Expect(whole.Stopped.As).To(Equal(result.Complete))
		Expect(whole.Used.Calls).To(Equal(50), "of the trials alone")
		capped := carry(e, workers(1), func(o *experiment.Options) { o.Caps.Calls = 50 })
		Expect(capped.Stopped.As).To(Equal(result.Capped))
		Expect(capped.Stopped.Trials).To(Equal(25))
	})
})
