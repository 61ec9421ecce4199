package page_test

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
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/browser"
)

// tab is a window of the browser with one file.
type tab struct {
	ctx context.Context
	url string
	mu  sync.Mutex
	// complaints are console messages, and requests for anything but the file.
	complaints []string
}

func newTab(chrome context.Context) *tab {
	GinkgoHelper()
	ctx, closing := chromedp.NewContext(chrome, chromedp.WithNewBrowserContext())
	DeferCleanup(closing)
	t := &tab{ctx: ctx}
	Expect(chromedp.Listen(ctx, t.hear)).To(Succeed())
	t.do(
		browser.Call(network.Enable, network.EnableParams{}), browser.Call(cdplog.Enable, cdp.Empty{}), browser.Call(runtime.Enable, cdp.Empty{}),
		browser.Call(page.Enable, page.EnableParams{}), chromedp.EmulateViewport(1280, 900),
	)
	return t
}

func (t *tab) hear(event any) {
	complaint := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		complaint = fmt.Sprintf("console.%s", e.Type)
	case *runtime.EventExceptionThrown:
		complaint = "exception: " + e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			complaint += " " + e.ExceptionDetails.Exception.Description
		}
	case *cdplog.EventEntryAdded:
		complaint = fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL)
	case *page.EventJavascriptDialogOpening:
		complaint = "a dialog: " + e.Message
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file:") || e.Type != network.ResourceTypeDocument {
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

// patience is how long a page may take.
const patience = time.Minute

func (t *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	Expect(chromedp.Do(ctx, actions...)).To(Succeed())
}

// open writes a file and opens it, at a fragment if one is given.
func (t *tab) open(html, fragment string) {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), "report.html")
	Expect(os.WriteFile(file, []byte(html), 0o600)).To(Succeed())
	t.url = "file://" + file
	t.do(chromedp.Navigate(t.url + fragment))
}

// at goes to a fragment of the page that is open.
func (t *tab) at(fragment string) {
	GinkgoHelper()
	t.js("location.hash = %q", fragment)
}

// value evaluates an expression.
func value[T any](t *tab, expression string, args ...any) T {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](fmt.Sprintf(expression, args...)))
	Expect(err).NotTo(HaveOccurred(), expression)
	return v
}

func (t *tab) js(statement string, args ...any) {
	GinkgoHelper()
	value[bool](t, "(() => { "+statement+"; return true; })()", args...)
}

// text is the text of the first element that matches, as a person sees it.
func (t *tab) text(css string) string {
	return value[string](t, `document.querySelector(%q)?.innerText ?? ""`, css)
}

// is reports whether a condition holds on the page.
func (t *tab) is(condition string, args ...any) bool {
	return value[bool](t, "!!("+condition+")", args...)
}

// waits waits for a condition on the page.
func (t *tab) waits(condition string, args ...any) {
	GinkgoHelper()
	Eventually(func() bool { return t.is(condition, args...) }).WithTimeout(patience).Should(BeTrue(), func() string {
		return fmt.Sprintf(condition, args...) + "\n" + strings.Join(t.heard(), "\n")
	})
}

// focusSeen holds if there is an outline around what has the focus, or around what
// stands for it.
const focusSeen = `[document.activeElement, document.activeElement.nextElementSibling]
	.some((e) => e && getComputedStyle(e).outlineStyle === "solid" && parseFloat(getComputedStyle(e).outlineWidth) >= 2)`

func (t *tab) press(keys string, options ...chromedp.KeyOption) {
	GinkgoHelper()
	t.do(chromedp.KeyEvent(keys, options...))
}

// click clicks on an element once it is drawn: what is far from the window is not.
func (t *tab) click(css string) {
	GinkgoHelper()
	t.js(`document.querySelector(%q).scrollIntoView({ block: "center", behavior: "instant" })`, css)
	t.waits(`((e) => { const r = e.getBoundingClientRect(); return e.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)) })(document.querySelector(%q))`, css)
	at := value[[]float64](t, `((r) => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector(%q).getBoundingClientRect())`, css)
	t.do(chromedp.MouseClickXY(at[0], at[1]))
}

// slash presses "/" as a keyboard does: no character follows a key that was handled.
func (t *tab) slash() {
	GinkgoHelper()
	t.do(browser.Call(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "/", Text: "/"}),
		browser.Call(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: "/"}))
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

// scheme asks for light or dark.
func (t *tab) scheme(name string) {
	GinkgoHelper()
	t.do(browser.Call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	}))
}

// fits checks that nothing is wider than a window.
func (t *tab) fits(name string, width int64) {
	GinkgoHelper()
	t.do(chromedp.EmulateViewport(width, 900))
	over := value[int](t, `document.documentElement.scrollWidth - document.documentElement.clientWidth`)
	Expect(over).To(BeNumerically("<=", 0), "%s is %d px too wide at %d px: %s", name, over, width, value[string](t, widest))
}

// shoot takes a picture of the whole page where REHEARSE_SCREENSHOTS names a
// folder, and checks in any case that nothing is wider than the window.
func (t *tab) shoot(name string, width int64, scheme string) {
	GinkgoHelper()
	t.scheme(scheme)
	t.fits(name, width)
	folder := os.Getenv("REHEARSE_SCREENSHOTS")
	if folder == "" {
		return
	}
	t.js(`document.querySelectorAll(".scenario").forEach((e) => { e.style.contentVisibility = "visible"; })`)
	picture, err := chromedp.Run(t.ctx, chromedp.FullScreenshot(100))
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), picture, 0o600)).To(Succeed())
}

// widest names the elements that stand out of the window, but for what can be scrolled.
const widest = `[...document.querySelectorAll("body *")].filter((e) => !e.parentElement.closest(".scroll, figure, nav") && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
	.slice(0, 5).map((e) => e.localName + "." + e.className).join(" ")`

// pdf prints the page.
func (t *tab) pdf() []byte {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.PrintToPDF())
	Expect(err).NotTo(HaveOccurred())
	return out
}
