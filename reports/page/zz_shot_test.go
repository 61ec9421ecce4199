package page_test

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/chromedp"
	. "github.com/onsi/ginkgo/v2"
)

var _ = It("zzshot", func() {
	if os.Getenv("ZZ") == "" {
		Skip("x")
	}
	t := newTab(browser())
	for _, spec := range strings.Fields(os.Getenv("ZZ")) {
		p := strings.Split(spec, ",")
		t.scheme("light")
		file, frag, _ := strings.Cut(p[0], "#")
		abs, _ := filepath.Abs(file)
		t.do(chromedp.Navigate("about:blank"))
		t.do(chromedp.Navigate("file://" + abs + "#" + frag))
		t.waits(`document.getElementById("count")?.textContent`)
		if frag != "" {
			t.js(`document.querySelectorAll("main > section:not(#scenarios), .scenario:not(:has(details[open]))").forEach((e) => e.remove())`)
		}
		t.shoot(p[1], 1280, "light")
		t.shoot(p[1], 390, "light")
	}
})
