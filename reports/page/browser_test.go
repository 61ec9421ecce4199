package page_test

import (
	"github.com/chromedp/cdproto/input"
	. "github.com/onsi/ginkgo/v2"

	"github.com/rehearse-dev/rehearse/internal/browser"
)

// slash presses "/" as a keyboard does: no character follows a key that was handled.
func slash(t *browser.Tab) {
	GinkgoHelper()
	t.Do(browser.Call(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "/", Text: "/"}),
		browser.Call(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: "/"}))
}
