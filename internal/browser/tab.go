package browser

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
	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
)

// Patience is how long a page may take.
const Patience = time.Minute

// Screenshots is the environment variable with the folder for the pictures of Tab.Shoot.
const Screenshots = "REHEARSE_SCREENSHOTS"

// FocusSeen is a condition: there is an outline around the element with the focus, or around its label.
const FocusSeen = `[document.activeElement, document.activeElement.nextElementSibling, document.activeElement.closest("label")]
	.some((e) => e && getComputedStyle(e).outlineStyle === "solid" && parseFloat(getComputedStyle(e).outlineWidth) >= 2)`

// Tab is a window of the browser with its own cookies. A failure of its methods fails the spec. Conditions and
// statements are JavaScript with verbs of package fmt.
type Tab struct {
	ctx        context.Context //nolint:containedctx // the window
	base       string
	mu         sync.Mutex
	complaints []string
}

// NewTab opens a window that ends with the spec. Pages may request only what is below base; those of a file
// (base is empty) may request nothing.
func NewTab(chrome context.Context, base string) *Tab {
	ginkgo.GinkgoHelper()
	ctx, closing := chromedp.NewContext(chrome, chromedp.WithNewBrowserContext())
	ginkgo.DeferCleanup(closing)
	t := &Tab{ctx: ctx, base: base}
	gomega.Expect(chromedp.Listen(ctx, t.hear)).To(gomega.Succeed())
	t.Do(
		Call(network.Enable, network.EnableParams{}), Call(cdplog.Enable, cdp.Empty{}), Call(runtime.Enable, cdp.Empty{}),
		Call(page.Enable, page.EnableParams{}), chromedp.EmulateViewport(1280, 900),
	)
	return t
}

func (t *Tab) hear(event any) {
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
		own := strings.HasPrefix(e.Request.URL, t.base+"/")
		if t.base == "" {
			own = strings.HasPrefix(e.Request.URL, "file:") && e.Type == network.ResourceTypeDocument
		}
		if !own {
			complaint = "request to " + e.Request.URL
		}
	}
	if complaint != "" {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.complaints = append(t.complaints, complaint)
	}
}

// Heard returns the complaints of the browser: messages of the console, exceptions, dialogs, breaches of the page's
// policy, and requests that the page may not make.
func (t *Tab) Heard() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.complaints
}

// Do carries out actions.
func (t *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	ginkgo.GinkgoHelper()
	ctx, cancel := context.WithTimeout(t.ctx, Patience)
	defer cancel()
	gomega.Expect(chromedp.Do(ctx, actions...)).To(gomega.Succeed())
}

// Open opens the page of a path below the base.
func (t *Tab) Open(path string) {
	ginkgo.GinkgoHelper()
	t.Do(chromedp.Navigate(t.base + path))
}

// OpenFile writes a page to a file and opens it, at a fragment if one is given.
func (t *Tab) OpenFile(html, fragment string) {
	ginkgo.GinkgoHelper()
	file := filepath.Join(ginkgo.GinkgoT().TempDir(), "report.html")
	gomega.Expect(os.WriteFile(file, []byte(html), 0o600)).To(gomega.Succeed())
	t.Do(chromedp.Navigate("file://" + file + fragment))
}

// Value evaluates an expression.
func Value[T any](t *Tab, expression string, args ...any) T {
	ginkgo.GinkgoHelper()
	v, err := evaluate[T](t, expand(expression, args))
	gomega.Expect(err).NotTo(gomega.HaveOccurred(), expression)
	return v
}

func evaluate[T any](t *Tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(t.ctx, Patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression))
}

// expand returns a format with its values; without values it is not a format.
func expand(format string, values []any) string {
	if len(values) == 0 {
		return format
	}
	return fmt.Sprintf(format, values...)
}

// JS carries out statements.
func (t *Tab) JS(statements string, args ...any) {
	ginkgo.GinkgoHelper()
	Value[bool](t, "(() => { "+statements+"; return true; })()", args...)
}

// Text returns the visible text of the first element that matches, with plain spaces for all kinds of them.
func (t *Tab) Text(css string) string {
	ginkgo.GinkgoHelper()
	return strings.ReplaceAll(Value[string](t, `document.querySelector(%q)?.innerText ?? ""`, css), "\u00a0", " ")
}

// Is reports whether a condition is true on the page.
func (t *Tab) Is(condition string, args ...any) bool {
	ginkgo.GinkgoHelper()
	return Value[bool](t, "!!("+condition+")", args...)
}

// Waits waits for a condition, on this page or the one that it leads to.
func (t *Tab) Waits(condition string, args ...any) {
	ginkgo.GinkgoHelper()
	condition = expand(condition, args)
	gomega.Eventually(func() bool {
		yes, err := evaluate[bool](t, "!!("+condition+")")
		return err == nil && yes // between two pages there is an error
	}).WithTimeout(Patience).Should(gomega.BeTrue(), func() string {
		text, _ := evaluate[string](t, "document.body.innerText")
		return condition + "\non the page:\n" + text + "\n" + strings.Join(t.Heard(), "\n")
	})
}

// Press presses keys.
func (t *Tab) Press(keys string, options ...chromedp.KeyOption) {
	ginkgo.GinkgoHelper()
	t.Do(chromedp.KeyEvent(keys, options...))
}

// Write inserts a text at once, as pasting does.
func (t *Tab) Write(text string) {
	ginkgo.GinkgoHelper()
	t.Do(Call(input.InsertText, input.InsertTextParams{Text: text}))
}

// Click clicks on the middle of an element once it is drawn: elements far from the window are not, and those of a
// page that loads move.
func (t *Tab) Click(css string) {
	ginkgo.GinkgoHelper()
	const middle = `((e) => { const r = e.getClientRects()[0]; return [r.x + r.width / 2, r.y + r.height / 2]; })(document.querySelector(%q))`
	t.Waits(`document.readyState === "complete" && ((e) => { e.scrollIntoView({ block: "center", behavior: "instant" });
		return e.contains(document.elementFromPoint(...%s)); })(document.querySelector(%q))`,
		fmt.Sprintf(middle, css), css)
	at := Value[[]float64](t, middle, css)
	t.Do(chromedp.MouseClickXY(at[0], at[1]))
}

// NoScript switches scripts off.
func (t *Tab) NoScript() {
	ginkgo.GinkgoHelper()
	t.Do(Call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
}

// Scheme requests light or dark colours, and no animations.
func (t *Tab) Scheme(name string) {
	ginkgo.GinkgoHelper()
	t.Do(Call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	}))
}

// widest names elements that exceed the window, except for those in a part that scrolls.
const widest = `[...document.querySelectorAll("body *")]
	.filter((e) => !e.parentElement.closest(".scroll, figure, nav") &&
		e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
	.slice(0, 5).map((e) => e.localName + "." + e.className).join(" ")`

// Fits checks that nothing is wider than a window of a width.
func (t *Tab) Fits(name string, width int64) {
	ginkgo.GinkgoHelper()
	t.Do(chromedp.EmulateViewport(width, 900))
	over := Value[int](t, `document.documentElement.scrollWidth - document.documentElement.clientWidth`)
	gomega.Expect(over).To(gomega.BeNumerically("<=", 0), "%s is %d px too wide at %d px: %s", name, over, width, Value[string](t, widest))
}

// Shoot writes a picture of the whole page to the folder that Screenshots names, if any, and checks in any case that
// nothing is wider than the window.
func (t *Tab) Shoot(name string, width int64, scheme string) {
	ginkgo.GinkgoHelper()
	t.Scheme(scheme)
	t.Fits(name, width)
	folder := os.Getenv(Screenshots) //nolint:forbidigo // only specs use this package
	if folder == "" {
		return
	}
	t.JS(`document.querySelectorAll(".scenario").forEach((e) => { e.style.contentVisibility = "visible"; })`)
	picture, err := chromedp.Run(t.ctx, chromedp.FullScreenshot(100))
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	gomega.Expect(os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), picture, 0o600)).To(gomega.Succeed())
}

// PDF prints the page.
func (t *Tab) PDF() []byte {
	ginkgo.GinkgoHelper()
	ctx, cancel := context.WithTimeout(t.ctx, Patience)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.PrintToPDF())
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return out
}
