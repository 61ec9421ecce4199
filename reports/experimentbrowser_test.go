package reports_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/browser"
)

var _ = Describe("the page in a browser", Label("H-05"), func() {
	It("fits a phone and a screen, in light and dark, whatever is in it, and loads nothing", func() {
		t := browser.NewTab(browser.Start(), "")
		for name, r := range map[string]result.Experiment{"sample": sampleExperiment(), "tuning": tuning(), "hostile": hostileExperiment()} {
			t.OpenFile(experimentPage(r), "")
			for _, scheme := range []string{"light", "dark"} {
				t.Shoot("experiment-"+name, 390, scheme)
				t.Shoot("experiment-"+name, 1280, scheme)
			}
		}
		Expect(t.Heard()).To(BeEmpty())
	})
})
