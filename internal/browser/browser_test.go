package browser_test

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/browser"
)

func TestBrowser(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Browser")
}

var _ = Describe("A browser", func() {
	It("starts, and takes commands of its own protocol", func() {
		Expect(chromedp.Do(browser.Start(), browser.Call(runtime.Enable, cdp.Empty{}))).To(Succeed())
	})
	It("is listed by make test if it is missing", func() {
		script, err := os.ReadFile("../../.ci/missing")
		Expect(err).NotTo(HaveOccurred())
		Expect(string(script)).To(ContainSubstring("browsers=(" + strings.Join(browser.Programs, " ") + ")"))
	})
})
