package view_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/browser"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/reports/rundir"
	"github.com/rehearse-dev/rehearse/view"
)

// patience is how long a page may take.
const patience = time.Minute

// tab is a window of the browser.
type tab struct {
	ctx  context.Context
	base string
	mu   sync.Mutex
	// complaints are messages of the console, dialogs, and requests to other servers.
	complaints []string
}

func newTab(base string) *tab {
	GinkgoHelper()
	ctx, closing := chromedp.NewContext(browser.Start(), chromedp.WithNewBrowserContext())
	DeferCleanup(closing)
	t := &tab{ctx: ctx, base: base}
	Expect(chromedp.Listen(ctx, t.hear)).To(Succeed())
	t.do(browser.Call(network.Enable, network.EnableParams{}), browser.Call(cdplog.Enable, cdp.Empty{}),
		browser.Call(runtime.Enable, cdp.Empty{}), browser.Call(page.Enable, page.EnableParams{}), chromedp.EmulateViewport(1000, 900))
	return t
}

func (t *tab) hear(event any) {
	complaint := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		complaint = fmt.Sprintf("console.%s", e.Type)
	case *runtime.EventExceptionThrown:
		complaint = "exception: " + e.ExceptionDetails.Text
	case *cdplog.EventEntryAdded:
		complaint = fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL)
	case *page.EventJavascriptDialogOpening:
		complaint = "a dialog: " + e.Message
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

func (t *tab) heard() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.complaints
}

func (t *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	Expect(chromedp.Do(ctx, actions...)).To(Succeed())
}

// is reports whether a condition is true on the page.
func (t *tab) is(condition string, args ...any) bool {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf("!!(%s)", fmt.Sprintf(condition, args...))))
	return err == nil && v // between two pages there is none
}

func (t *tab) waits(condition string, args ...any) {
	GinkgoHelper()
	Eventually(func() bool { return t.is(condition, args...) }).WithTimeout(patience).Should(BeTrue(), func() string {
		return fmt.Sprintf(condition, args...) + "\n" + strings.Join(t.heard(), "\n")
	})
}

// click clicks on the middle of an element once it is drawn.
func (t *tab) click(css string) {
	GinkgoHelper()
	t.waits(`((e) => { e.scrollIntoView({ block: "center", behavior: "instant" }); const r = e.getClientRects()[0];
		return e.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)) })(document.querySelector(%q))`, css)
	at, err := chromedp.Run(t.ctx, chromedp.Evaluate[[]float64](fmt.Sprintf(
		`((r) => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector(%q).getClientRects()[0])`, css)))
	Expect(err).NotTo(HaveOccurred())
	t.do(chromedp.MouseClickXY(at[0], at[1]))
}

var _ = Describe("the pages of runs in a browser", Label("H-04"), func() {
	var f *fixture
	var t *tab
	BeforeEach(func(ctx SpecContext) {
		f = newFixture(ctx)
		t = newTab(f.http.URL)
	})
	enter := func(path string) { t.do(chromedp.Navigate(f.http.URL + path + "?token=" + token)) }

	It("compare two ticked runs, and show hostile texts as texts", func(ctx SpecContext) {
		f.add(ctx, 1, nil, shown{hostile, []string{hostile}, "done"})
		b := f.add(ctx, 2, nil, shown{hostile, []string{"other " + hostile}, hostile})
		enter("/")
		t.waits(`location.search === "" && document.querySelectorAll("tbody tr").length === 2`)
		t.click("tbody tr:nth-child(1) input")
		t.click("tbody tr:nth-child(2) input")
		t.click("#compare")
		t.waits(`location.pathname === "/compare" && document.querySelector("h1 a:last-of-type").textContent === %q`, b.ID)
		t.click("main .items a")
		t.waits(`document.querySelectorAll(".sides .text").length === 2 && document.querySelector(".diff")`)
		t.click(".sides article:nth-child(2) h2 a:last-of-type")
		t.waits(`document.querySelector(".calls .message .text")?.textContent.includes("<script>alert(1)</script>")`)
		t.click("#theme")
		Expect(t.is(`document.documentElement.dataset.theme === "light"`)).To(BeTrue())
		for _, width := range []int64{1280, 800, 360} {
			t.do(chromedp.EmulateViewport(width, 900))
			Expect(t.is(`document.documentElement.scrollWidth <= document.documentElement.clientWidth`)).To(BeTrue(), fmt.Sprint(width))
		}
		Expect(t.heard()).To(BeEmpty())
	})

	It("follow a run until it is done, and lead to its page", func(ctx SpecContext) {
		dir := filepath.Join(f.dir, "runs", "20260401-120000")
		run := begin(dir, shown{"first", []string{"x", "y"}, "done"}, shown{hostile, []string{"z"}, "error"})
		run.write(1)
		enter(view.LivePath(dir))
		t.waits(`document.querySelector("#progress")?.textContent.startsWith("1 of 3")`)
		run.write(2)
		t.waits(`document.querySelector("#progress").textContent.startsWith("3 of 3")`)
		t.waits(`document.querySelectorAll("#results tbody tr").length === 2 && document.querySelector("#results .badge.fail")`)
		Expect(t.is(`document.querySelector("#bar").value === 3 && document.querySelector("#results tr:last-child bdi").textContent.includes("<script>")`)).To(BeTrue())
		run.finish()
		e, err := rundir.ReadEntry(ctx, filepath.Join(dir, "recording.jsonl"), kinds.Language())
		Expect(err).NotTo(HaveOccurred())
		e.ID = history.NewID(e.SHA256, start, dir)
		Expect(f.past.Add(ctx, &e, false)).To(BeTrue())
		Expect(run.folder.Close()).To(Succeed())
		t.waits(`location.pathname === "/runs/%s" && document.querySelector("h1").textContent.includes("1 of 2")`, e.ID)
		Expect(t.heard()).To(BeEmpty())
	})

	It("are complete without JavaScript", func(ctx SpecContext) {
		r := f.add(ctx, 1, nil, shown{"a", []string{"Sent.", "Lost."}, "done"})
		t.do(browser.Call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
		enter("/")
		t.waits(`document.querySelector("tbody th a")`)
		t.click("tbody th a")
		t.waits(`location.pathname === "/runs/%s"`, r.ID)
		t.click("tbody th a")
		t.waits(`document.querySelectorAll("article").length === 2`)
		t.click("article .refs a")
		t.waits(`document.querySelector(".calls")?.innerText.includes("Prompt: Sent.")`)
		Expect(t.is(`document.querySelector("#theme").hidden`)).To(BeTrue())
		Expect(t.heard()).To(BeEmpty())
	})
})
