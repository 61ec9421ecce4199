package web_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/browser"
)

// tab is a window in French.
type tab struct{ *browser.Tab }

func newTab(chrome context.Context, base string) *tab {
	GinkgoHelper()
	t := &tab{browser.NewTab(chrome, base)}
	t.Do(language("fr-FR,fr;q=0.9,en;q=0.5"))
	return t
}

// sees waits for a text.
func (t *tab) sees(css, text string) {
	GinkgoHelper()
	t.Waits(`document.querySelector(%q)?.innerText.replaceAll("\u00a0", " ").includes(%q)`, css, strings.ReplaceAll(text, "\u00a0", " "))
}

// tabTo presses Tab until an element has the focus, as a person without a mouse does, who sees it.
func (t *tab) tabTo(css string) {
	GinkgoHelper()
	for range 40 {
		t.Press(kb.Tab)
		if t.Is(fmt.Sprintf(`document.activeElement.matches(%q)`, css)) {
			Expect(t.Is(browser.FocusSeen)).To(BeTrue(), "the focus on %s is not seen", css)
			return
		}
	}
	Fail("Tab does not lead to " + css)
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
