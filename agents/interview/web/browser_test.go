package web_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/browser"
)

// tab is a window of the browser, with cookies of its own.
type tab struct {
	ctx  context.Context
	base string
	mu   sync.Mutex
	// complaints are console messages and requests to other hosts.
	complaints []string
}

func newTab(chrome context.Context, base string) *tab {
	GinkgoHelper()
	ctx, closing := chromedp.NewContext(chrome, chromedp.WithNewBrowserContext())
	DeferCleanup(closing)
	t := &tab{ctx: ctx, base: base}
	Expect(chromedp.Listen(ctx, t.hear)).To(Succeed())
	t.do(
		browser.Call(network.Enable, network.EnableParams{}), browser.Call(cdplog.Enable, cdp.Empty{}), browser.Call(runtime.Enable, cdp.Empty{}),
		language("fr-FR,fr;q=0.9,en;q=0.5"), chromedp.EmulateViewport(1280, 900),
	)
	return t
}

func (t *tab) hear(event any) {
	complaint := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		complaint = fmt.Sprintf("console.%s", e.Type)
	case *runtime.EventExceptionThrown:
		complaint = e.ExceptionDetails.Text
	case *cdplog.EventEntryAdded:
		complaint = fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, t.base+"/") {
			complaint = "request to " + e.Request.URL
		}
	}
	if complaint != "" {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.complaints = append(t.complaints, complaint)
	}
}

// heard returns the complaints of the browser.
func (t *tab) heard() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.complaints
}

// patience limits how long a page may take.
const patience = time.Minute

func (t *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	Expect(chromedp.Do(ctx, actions...)).To(Succeed())
}

func (t *tab) open(path string) {
	GinkgoHelper()
	t.do(chromedp.Navigate(t.base + path))
}

// value evaluates an expression.
func value[T any](t *tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression))
}

// text returns the visible text of the first matching element. All kinds of spaces are
// returned as plain spaces.
func (t *tab) text(css string) string {
	text, _ := value[string](t, fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ""`, css))
	return strings.ReplaceAll(text, "\u00a0", " ")
}

// sees waits for a text.
func (t *tab) sees(css, text string) {
	GinkgoHelper()
	Eventually(func() string { return t.text(css) }).WithTimeout(patience).Should(ContainSubstring(text))
}

// is reports whether a condition is true on the page.
func (t *tab) is(condition string) bool {
	yes, err := value[bool](t, "!!("+condition+")")
	return err == nil && yes
}

// waits waits for a condition on the page.
func (t *tab) waits(condition string) {
	GinkgoHelper()
	Eventually(func() bool { return t.is(condition) }).WithTimeout(patience).Should(BeTrue(), func() string {
		return condition + "\non the page:\n" + t.text("body") + "\n" + strings.Join(t.heard(), "\n")
	})
}

// focusSeen is true if the element with the focus has a visible outline; a radio button
// has it around its label.
const focusSeen = `[document.activeElement, document.activeElement.closest("label")]
	.some((e) => e && getComputedStyle(e).outlineStyle === "solid" && parseFloat(getComputedStyle(e).outlineWidth) >= 2)`

// tabTo presses Tab until an element has the focus, as somebody without a mouse
// does, who sees it.
func (t *tab) tabTo(css string) {
	GinkgoHelper()
	for range 40 {
		t.do(chromedp.KeyEvent(kb.Tab))
		if t.is(fmt.Sprintf(`document.activeElement.matches(%q)`, css)) {
			Expect(t.is(focusSeen)).To(BeTrue(), "the focus on %s is not seen", css)
			return
		}
	}
	Fail("Tab does not lead to " + css)
}

func (t *tab) press(keys string, options ...chromedp.KeyOption) {
	GinkgoHelper()
	t.do(chromedp.KeyEvent(keys, options...))
}

// write puts a text in at once, as pasting does.
func (t *tab) write(text string) {
	GinkgoHelper()
	t.do(browser.Call(input.InsertText, input.InsertTextParams{Text: text}))
}

// noScript switches scripts off.
func (t *tab) noScript() {
	GinkgoHelper()
	t.do(browser.Call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
}

// still requests pages without animations.
func (t *tab) still() {
	GinkgoHelper()
	t.do(browser.Call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}},
	}))
}

// shoot writes a screenshot of the whole page if REHEARSE_SCREENSHOTS names a folder,
// and always checks that no element is wider than the window.
func (t *tab) shoot(name string, width int64, dark bool) {
	GinkgoHelper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	t.do(
		chromedp.EmulateViewport(width, 900),
		browser.Call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		}))
	over, err := value[int](t, `document.documentElement.scrollWidth - document.documentElement.clientWidth`)
	Expect(err).NotTo(HaveOccurred())
	Expect(over).To(BeNumerically("<=", 0), "%s is %d px too wide at %d px", name, over, width)
	folder := os.Getenv("REHEARSE_SCREENSHOTS")
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(t.ctx, chromedp.FullScreenshot(100))
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), picture, 0o600)).To(Succeed())
}

// offline cuts the tab off from the network, or puts it back on.
func offline(cut bool) chromedp.Action[chromedp.Void] {
	var rules []*network.Conditions
	if cut {
		rules = append(rules, &network.Conditions{Offline: true, DownloadThroughput: -1, UploadThroughput: -1})
	}
	return browser.Call(network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: rules})
}

// language makes the browser ask for a language.
func language(accept string) chromedp.Action[chromedp.Void] {
	return browser.Call(network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": accept}})
}
