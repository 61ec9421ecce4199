// Package browser starts a headless browser for specs.
package browser

import (
	"context"
	"os/exec"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
)

// Programs are the names of the browser; the first one found is used.
var Programs = []string{"chromium", "chromium-browser", "google-chrome", "chrome", "headless-shell"}

// Start starts a browser with its own profile, which ends with the spec. It skips the spec
// without a browser.
func Start() context.Context {
	ginkgo.GinkgoHelper()
	var path string
	for _, name := range Programs {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		ginkgo.Skip("no browser: none of " + strings.Join(Programs, ", ") + " is installed")
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(ginkgo.GinkgoT().TempDir()),
		chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
	)...)
	ginkgo.DeferCleanup(stop)
	ctx, closing := chromedp.NewContext(ctx)
	ginkgo.DeferCleanup(closing)
	gomega.Expect(chromedp.Do(ctx)).To(gomega.Succeed(), "the browser does not start")
	return ctx
}

// Call returns an action for a command of the browser's protocol.
func Call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}
