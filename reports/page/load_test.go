package page_test

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/chromedp/chromedp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/browser"
)

var _ = It("stays below 5 MB with 1,000 scenarios and 10,000 calls, and responds at once in a browser", func() {
	var recording bytes.Buffer
	Expect(thousand(&recording, 1000)).To(Succeed())
	file := filepath.Join(GinkgoT().TempDir(), "report.html")
	out, err := os.Create(file)
	Expect(err).NotTo(HaveOccurred())
	defer out.Close()
	Expect(write(&recording, out)).To(And(BeNumerically(">", 1_000_000), BeNumerically("<", 5_000_000)))
	html, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	Expect(bytes.Count(html, []byte(`class="trial"`))).To(Equal(1000), "every trial can be opened")

	t := browser.NewTab(browser.Start(), "")
	t.Scheme("light")
	t.Do(chromedp.Navigate("file://" + file))
	t.Waits(`document.getElementById("count").textContent === "1,000 scenarios"`)
	AddReportEntry("until it can be used, in ms", browser.Value[float64](t, `performance.getEntriesByType("navigation")[0].loadEventEnd`))
	AddReportEntry("first contentful paint, in ms", browser.Value[float64](t, `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1`))
	AddReportEntry("elements", browser.Value[int](t, `document.querySelectorAll("*").length`))
	slash(t)
	t.Write("order-0999")
	t.Waits(`document.getElementById("count").textContent === "1 of 1,000 scenarios"`)
	t.JS(`window.start = performance.now(); document.getElementById("deep").checked = true;
		document.getElementById("search").value = "999 9the"; document.getElementById("filter").requestSubmit()`)
	t.Waits(`document.getElementById("count").textContent === "1 of 1,000 scenarios"`)
	AddReportEntry("a search in all transcripts, in ms", browser.Value[float64](t, `performance.now() - window.start`))
	t.JS("location.hash = %q", "#shop/order-0500/1/10")
	t.Waits(`document.activeElement.id === "shop/order-0500/1/10"`)
	Expect(t.Heard()).To(BeEmpty())
})
