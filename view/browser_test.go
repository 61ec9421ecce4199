package view_test

import (
	"path/filepath"

	"github.com/chromedp/cdproto/emulation"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/browser"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/reports/rundir"
	"github.com/rehearse-dev/rehearse/view"
)

var _ = Describe("the pages of runs in a browser", Label("H-04"), func() {
	var f *fixture
	var t *browser.Tab
	BeforeEach(func(ctx SpecContext) {
		f = newFixture(ctx)
		t = browser.NewTab(browser.Start(), f.http.URL)
	})
	enter := func(path string) { t.Open(path + "?token=" + token) }

	It("compare two ticked runs, and show hostile texts as texts", func(ctx SpecContext) {
		f.add(ctx, 1, nil, shown{hostile, []string{hostile}, "done"})
		b := f.add(ctx, 2, nil, shown{hostile, []string{"other " + hostile}, hostile})
		enter("/")
		t.Waits(`location.search === "" && document.querySelectorAll("tbody tr").length === 2`)
		t.Click("tbody tr:nth-child(1) input")
		t.Click("tbody tr:nth-child(2) input")
		t.Click("#compare")
		t.Waits(`location.pathname === "/compare" && document.querySelector("h1 a:last-of-type").textContent === %q`, b.ID)
		t.Click("main .items a")
		t.Waits(`document.querySelectorAll(".sides .text").length === 2 && document.querySelector(".diff")`)
		t.Click(".sides article:nth-child(2) h2 a:last-of-type")
		t.Waits(`document.querySelector(".calls .message .text")?.textContent.includes("<script>alert(1)</script>")`)
		t.Click("#theme")
		Expect(t.Is(`document.documentElement.dataset.theme === "light"`)).To(BeTrue())
		for _, width := range []int64{1280, 800, 360} {
			t.Fits("the calls of a trial", width)
		}
		Expect(t.Heard()).To(BeEmpty())
	})

	It("follow a run until it is done, and lead to its page", func(ctx SpecContext) {
		dir := filepath.Join(f.dir, "runs", "20260401-120000")
		run := begin(dir, shown{"first", []string{"x", "y"}, "done"}, shown{hostile, []string{"z"}, "error"})
		run.write(1)
		enter(view.LivePath(dir))
		t.Waits(`document.querySelector("#progress")?.textContent.startsWith("1 of 3")`)
		run.write(2)
		t.Waits(`document.querySelector("#progress").textContent.startsWith("3 of 3")`)
		t.Waits(`document.querySelectorAll("#results tbody tr").length === 2 && document.querySelector("#results .badge.fail")`)
		Expect(t.Is(`document.querySelector("#bar").value === 3 && document.querySelector("#results tr:last-child bdi").textContent.includes("<script>")`)).To(BeTrue())
		run.finish()
		e, err := rundir.ReadEntry(ctx, filepath.Join(dir, "recording.jsonl"), kinds.Language())
		Expect(err).NotTo(HaveOccurred())
		e.ID = history.NewID(e.SHA256, start, dir)
		Expect(f.past.Add(ctx, &e, false)).To(BeTrue())
		Expect(run.folder.Close()).To(Succeed())
		t.Waits(`location.pathname === "/runs/%s" && document.querySelector("h1").textContent.includes("1 of 2")`, e.ID)
		Expect(t.Heard()).To(BeEmpty())
	})

	It("are complete without JavaScript", func(ctx SpecContext) {
		r := f.add(ctx, 1, nil, shown{"a", []string{"Sent.", "Lost."}, "done"})
		t.Do(browser.Call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
		enter("/")
		t.Waits(`document.querySelector("tbody th a")`)
		t.Click("tbody th a")
		t.Waits(`location.pathname === "/runs/%s"`, r.ID)
		t.Click("tbody th a")
		t.Waits(`document.querySelectorAll("article").length === 2`)
		t.Click("article .refs a")
		t.Waits(`document.querySelector(".calls")?.innerText.includes("Prompt: Sent.")`)
		Expect(t.Is(`document.querySelector("#theme").hidden`)).To(BeTrue())
		Expect(t.Heard()).To(BeEmpty())
	})
})
