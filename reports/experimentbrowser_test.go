package reports_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/chromedp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/browser"
)

var _ = Describe("the page in a browser", Label("H-05"), func() {
	It("fits a phone and a screen, in light and dark, whatever is in it, and loads nothing", func() {
		ctx, cancel := context.WithTimeout(browser.Start(), time.Minute)
		DeferCleanup(cancel)
		var mu sync.Mutex
		var complaints []string
		Expect(chromedp.Listen(ctx, func(event any) {
			if e, ok := event.(*cdplog.EventEntryAdded); ok {
				mu.Lock()
				defer mu.Unlock()
				complaints = append(complaints, e.Entry.Text)
			}
		})).To(Succeed())
		Expect(chromedp.Do(ctx, browser.Call(cdplog.Enable, cdp.Empty{}))).To(Succeed())
		dir := GinkgoT().TempDir()
		for name, r := range map[string]result.Experiment{"sample": sampleExperiment(), "tuning": tuning(), "hostile": hostileExperiment()} {
			file := filepath.Join(dir, name+".html")
			Expect(os.WriteFile(file, []byte(experimentPage(r)), 0o600)).To(Succeed())
			Expect(chromedp.Do(ctx, chromedp.Navigate("file://"+file))).To(Succeed())
			for _, theme := range []string{"light", "dark"} {
				Expect(chromedp.Do(ctx, browser.Call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
					Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}},
				}))).To(Succeed())
				for _, width := range []int64{390, 1280} {
					Expect(chromedp.Do(ctx, chromedp.EmulateViewport(width, 900))).To(Succeed())
					wide, err := chromedp.Run(ctx, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`))
					Expect(err).NotTo(HaveOccurred())
					Expect(wide).To(BeNumerically("<=", width), "%s, %s", name, theme)
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		Expect(complaints).To(BeEmpty())
	})
})
