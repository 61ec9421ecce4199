package page_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/browser"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/page"
)

var _ = Describe("A page in a browser", Label("H-05"), Ordered, ContinueOnFailure, func() {
	var t *browser.Tab
	html := ""

	BeforeAll(func() {
		t = browser.NewTab(browser.Start(), "")
		html = small().page(page.Options{})
	})
	BeforeEach(func() { t.Scheme("light") })
	AfterEach(func() { Expect(t.Heard()).To(BeEmpty(), "errors, breaches of the policy or requests") })

	It("opens with the verdict, and with all details folded", func() {
		t.OpenFile(html, "")
		Expect(t.Text("h1")).To(HavePrefix("Error"))
		Expect(t.Text("#count")).To(Equal("5 scenarios"))
		Expect(t.Is(`document.querySelector(".call")`)).To(BeFalse(), "transcripts are inert")
		Expect(t.Is(`document.title.includes("rehearse")`)).To(BeTrue())
	})

	It("filters by verdict, agent, tag and words, and counts the matches", func() {
		t.OpenFile(html, "")
		shown := func() []string {
			return browser.Value[[]string](t, `[...document.querySelectorAll(".scenario:not([hidden]) .name b")].map((e) => e.textContent)`)
		}
		t.Click("#filter .choice.fail span")
		Expect(shown()).To(ConsistOf("orders/refund", "orders/golden [call=2:reset-mid-stream]"))
		Expect(t.Text("#count")).To(Equal("2 of 5 scenarios"))
		t.Click("#filter .choice.error span")
		Expect(shown()).To(HaveLen(3))
		t.JS(`const s = document.getElementById("agent"); s.value = "supervisor"; s.dispatchEvent(new Event("change", {bubbles: true}))`)
		Expect(shown()).To(ConsistOf("orders/outage"))
		t.JS(`document.getElementById("filter").reset(); document.getElementById("filter").dispatchEvent(new Event("change", {bubbles: true}))`)
		Expect(shown()).To(HaveLen(5))
		t.JS(`const s = document.getElementById("tag"); s.value = "guard"; s.dispatchEvent(new Event("change", {bubbles: true}))`)
		Expect(shown()).To(ConsistOf("orders/refund"))
		t.JS(`const s = document.getElementById("tag"); s.value = ""; s.dispatchEvent(new Event("change", {bubbles: true}))`)

		slash(t)
		Expect(t.Is(`document.activeElement.id === "search"`)).To(BeTrue())
		t.Write("PROVIDER does")
		t.Waits(`document.getElementById("count").textContent === "1 of 5 scenarios"`)
		Expect(shown()).To(ConsistOf("orders/outage"))
		t.Press(kb.Escape)
		Expect(shown()).To(HaveLen(5))
		t.Write("ledger") // in an answer
		t.Waits(`document.getElementById("count").textContent === "1 of 5 scenarios"`)
		t.Press(kb.Escape)
		t.Write("at most 3") // in a finding
		t.Waits(`document.getElementById("count").textContent === "1 of 5 scenarios"`)
		t.Press(kb.Escape)
		t.Write("mail?") // in a transcript
		t.Waits(`document.getElementById("count").textContent.startsWith("0 of 5 scenarios: no name")`)
		t.JS(`document.getElementById("deep").click()`)
		t.Waits(`document.getElementById("count").textContent === "1 of 5 scenarios"`)
		Expect(shown()).To(ConsistOf("orders/refund"))
	})

	It("finds texts with escaped characters in transcripts that were not opened", func() {
		t.OpenFile(html, "")
		t.JS(`document.getElementById("deep").checked = true`)
		slash(t)
		t.Write(`{"order":`)
		t.Waits(`document.getElementById("count").textContent === "1 of 5 scenarios"`)
	})

	It("sorts", func() {
		t.OpenFile(html, "")
		t.JS(`const s = document.getElementById("order"); s.value = "calls"; s.dispatchEvent(new Event("change", {bubbles: true}))`)
		calls := browser.Value[[]float64](t, `[...document.querySelectorAll(".scenario")].map((e) => Number(e.dataset.calls))`)
		for i := 1; i < len(calls); i++ {
			Expect(calls[i]).To(BeNumerically("<=", calls[i-1]))
		}
		Expect(calls[0]).To(BeNumerically(">", calls[len(calls)-1]))
	})

	It("sorts by the heads of the columns, and back", func() {
		t.OpenFile(html, "")
		calls := func() []float64 {
			return browser.Value[[]float64](t, `[...document.querySelectorAll(".scenario")].map((e) => Number(e.dataset.calls))`)
		}
		t.Click(`.columns [data-by=calls]`)
		falling := calls()
		Expect(slices.IsSortedFunc(falling, func(a, b float64) int { return cmp.Compare(b, a) })).To(BeTrue(), "%v", falling)
		Expect(t.Is(`document.querySelector(".columns [aria-pressed=true]").dataset.by === "calls"`)).To(BeTrue())
		t.Click(`.columns [data-by=calls]`)
		Expect(slices.IsSorted(calls())).To(BeTrue(), "%v", calls())
		Expect(falling).NotTo(Equal(calls()))
	})

	It("sorts a table by its heads", func() {
		t.OpenFile(html, "#orders/refund/1")
		t.Waits(`document.querySelector("[id='orders/refund'] .measures th .sort")`)
		t.JS(`document.querySelector("[id='orders/refund'] .more").open = true`)
		names := func() []string {
			return browser.Value[[]string](t, `[...document.querySelectorAll("[id='orders/refund'] .measures tbody th")].map((e) => e.textContent)`)
		}
		before := names()
		t.JS(`document.querySelector("[id='orders/refund'] .measures th .sort").click()`)
		Expect(names()).To(Equal(slices.Sorted(slices.Values(before))))
		Expect(names()).NotTo(Equal(before))
		Expect(t.Is(`document.querySelector("[id='orders/refund'] .measures th").ariaSort === "ascending"`)).To(BeTrue())
	})

	It("keeps the filters in the address", func() {
		t.OpenFile(html, "")
		t.Click("#filter .choice.fail span")
		slash(t)
		t.Write("at most")
		t.Waits(`document.getElementById("count").textContent === "1 of 5 scenarios"`)
		t.Waits(`location.hash === "#?q=at+most&verdict=fail"`)
		t.OpenFile(html, "#?q=at+most&verdict=fail&sort=name,reversed")
		t.Waits(`document.getElementById("count").textContent === "1 of 5 scenarios"`)
		Expect(t.Is(`document.getElementById("search").value === "at most" && document.querySelector("input[value=fail]").checked`)).To(BeTrue())
		Expect(t.Is(`document.querySelector(".scenario:not([hidden]) .name b").textContent === "orders/refund"`)).To(BeTrue())
		Expect(t.Is(`document.querySelector(".columns [data-by=name]").dataset.sorted === "down"`)).To(BeTrue(), "from Z to A")
		t.OpenFile(html, "#?sort=__proto__&verdict=nothing&tag=none")
		t.Waits(`document.getElementById("count").textContent.startsWith("5 scenarios") || document.getElementById("count").textContent.startsWith("0 of 5")`)
	})

	It("leads from failure to failure", func() {
		t.OpenFile(html, "")
		var seen []string
		for _, key := range []string{"n", "n", "n", "n", "p"} {
			before := browser.Value[string](t, `document.activeElement.parentElement?.id ?? ""`)
			t.Press(key)
			t.Waits(`(document.activeElement.parentElement?.id ?? "") !== %q && document.activeElement.closest("details")?.open`, before)
			seen = append(seen, browser.Value[string](t, `document.activeElement.parentElement.id`))
		}
		Expect(seen[:3]).To(ConsistOf("orders/outage", "orders/refund", "orders/golden-call-2-reset-mid-stream"))
		Expect(seen[3:]).To(Equal([]string{seen[0], seen[2]}), "from the last to the first, and back")
		t.Waits(`document.getElementById("orders/refund/2")?.open`)
		Expect(t.Is(`document.getElementById("orders/refund/1").open`)).To(BeFalse(), "it passed")
	})

	It("moves with arrow keys from the search into the list and back", func() {
		t.OpenFile(html, "")
		slash(t)
		t.Press(kb.ArrowDown)
		Expect(t.Is(`document.activeElement === document.querySelector(".scenario summary")`)).To(BeTrue())
		t.Press(kb.ArrowUp)
		Expect(t.Is(`document.activeElement.id === "search"`)).To(BeTrue())
		t.Write("provider")
		t.Waits(`document.getElementById("count").textContent === "1 of 5 scenarios"`)
		t.Press(kb.Escape)
		t.Press(kb.ArrowDown)
		t.Press(kb.ArrowDown)
		Expect(t.Is(`document.activeElement === document.querySelectorAll(".scenario > details > summary")[1]`)).To(BeTrue())
	})

	DescribeTable("copies commands, evidence and messages as they are", func(prepare string) {
		r := small()
		const command = `rehearse explore 'a b' --save "$HOME/<b>x" --label 'owner=Zoë & co'`
		r.input.Origin = reports.Origin{Began: time.Unix(1e9, 0), Origin: history.Origin{Command: command}}
		t.OpenFile(r.page(page.Options{}), "#orders/refund/2/1")
		t.Waits(`document.querySelector("[id='orders/refund/2/1'] .copy")`)
		t.JS(prepare)
		t.JS(`document.querySelector("main").prepend(document.createElement("textarea"))`)
		for css, want := range map[string]string{
			"#origin .command":                       command,
			`.items .command`:                        "rehearse run orders/golden --perturb 'call=2:reset-mid-stream'",
			`[id='orders/refund'] .links .command`:   "rehearse run scenarios/orders/refund.yaml --trials 2",
			`[id='orders/refund/2'] .evidence`:       "calls.total == 4",
			`[id='orders/refund/2/1'] .message.user`: "Refund order 8.",
		} {
			t.Click(css + " .copy")
			t.Waits(`document.querySelector(%q).textContent === "Copied"`, css+" .copy")
			t.JS(`const e = document.querySelector("textarea"); e.value = ""; e.focus()`)
			t.Do(browser.Call(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "v", Commands: []string{"paste"}}))
			t.Waits(`document.querySelector("textarea").value !== ""`)
			Expect(browser.Value[string](t, `document.querySelector("textarea").value`)).To(Equal(want), css)
		}
	},
		Entry("with the clipboard of the browser", ""),
		Entry("without access to it", `Clipboard.prototype.writeText = async () => { throw new Error("not allowed") }`),
	)

	It("shows a trial call by call", func() {
		t.OpenFile(html, "")
		t.Click(`[id="orders/refund"] > summary`)
		t.Waits(`document.getElementById("orders/refund/2")`)
		t.Waits(`document.querySelector("[id='orders/refund'] .findings")`)
		Expect(t.Text(`[id="orders/refund"] .findings`)).To(ContainSubstring("4 calls, and at most 3 are expected"))
		Expect(t.Is(`document.querySelector(".call")`)).To(BeFalse(), "there are two trials, and none was opened")
		t.Click(`[id="orders/refund/2"] > summary`)
		t.Waits(`document.getElementById("orders/refund/2/4")`)
		first := t.Text(`[id="orders/refund/2/1"]`)
		Expect(first).To(And(ContainSubstring("Refund order 8."), ContainSubstring("I looked at the order."), ContainSubstring("tokens in"), ContainSubstring("EUR"), ContainSubstring("600ms")))
		Expect(browser.Value[[]string](t, `[...document.querySelectorAll("mark")].map((e) => e.textContent + "|" + e.nextElementSibling.textContent.trim())`)).
			To(Equal([]string{"Next, I will issue the refund.|next steps", "Let me know if I should.|asks"}))
		second := t.Text(`[id="orders/refund/2/2"]`)
		Expect(second).To(And(ContainSubstring("status took effect at replies[1]"), ContainSubstring("attempt 1 failed: rate-limited (429); again after 2s"),
			ContainSubstring("calls the tool refund"), ContainSubstring("shown before: m1 to m3")))
	})

	It("leads from a link to a single call, whatever was folded or filtered", func() {
		for _, fragment := range []string{"#orders/refund/2/3", "#orders%2Frefund%2F2%2F3"} {
			t.OpenFile(html, fragment)
			t.Waits(`document.activeElement.id === "orders/refund/2/3"`)
			t.Waits(`Math.abs(document.activeElement.getBoundingClientRect().top) < 200`)
		}
		t.JS(`document.querySelector("#filter input[value=pass]").click()`)
		Expect(t.Is(`document.getElementById("orders/refund").closest("li").hidden`)).To(BeTrue())
		t.JS("location.hash = %q", "#orders/refund/1/1")
		t.Waits(`document.activeElement.id === "orders/refund/1/1" && !document.getElementById("orders/refund").closest("li").hidden`)
		t.JS("location.hash = %q", "#orders/refund/2/~m2")
		t.Waits(`document.activeElement.id === "orders/refund/2/~m2"`)
		t.JS("location.hash = %q", "#nothing/of/this/name")
		t.JS("location.hash = %q", "#%E0%A4%A")
	})

	It("leads from the survival matrix to the run that failed", func() {
		t.OpenFile(html, "")
		Expect(t.Text(".heat caption")).To(ContainSubstring("fault: each call"))
		t.Click(".heat td.fail a")
		t.Waits(`document.querySelector("[id='orders/golden-call-2-reset-mid-stream'][open] .call")`)
	})

	It("keeps the theme that was chosen, and follows the system before", func() {
		t.OpenFile(html, "")
		ground := func() string { return browser.Value[string](t, `getComputedStyle(document.body).backgroundColor`) }
		light := ground()
		t.Scheme("dark")
		Eventually(ground).WithTimeout(browser.Patience).ShouldNot(Equal(light))
		dark := ground()
		choose := func(name string) {
			t.JS(`document.getElementById("theme").click()`)
			t.Waits(`document.getElementById("theme").textContent === %q`, "Theme: "+name)
		}
		choose("light")
		Eventually(ground).WithTimeout(browser.Patience).Should(Equal(light))
		choose("dark")
		t.Scheme("light")
		Expect(t.Is(`matchMedia("(prefers-color-scheme: light)").matches`)).To(BeTrue())
		Expect(ground()).To(Equal(dark))
		choose("system")
		Eventually(ground).WithTimeout(browser.Patience).Should(Equal(light))
		t.Scheme("dark")
		Eventually(ground).WithTimeout(browser.Patience).Should(Equal(dark))
		choose("light")
		t.Do(chromedp.Reload())
		t.Waits(`document.getElementById("theme")?.textContent === "Theme: light"`)
		Eventually(ground).WithTimeout(browser.Patience).Should(Equal(light))
		t.JS(`localStorage.clear()`)
	})

	It("is used by keyboard alone, with the focus seen", func() {
		t.OpenFile(html, "")
		t.Press(kb.Tab)
		Expect(t.Text(":focus")).To(Equal("Skip to the scenarios"))
		seen := map[string]bool{}
		for range 60 {
			t.Press(kb.Tab)
			if t.Is(`document.activeElement === document.body`) {
				break
			}
			Expect(t.Is(browser.FocusSeen)).To(BeTrue(), browser.Value[string](t, `document.activeElement.outerHTML.slice(0, 200)`))
			seen[browser.Value[string](t, `document.activeElement.id || document.activeElement.localName`)] = true
		}
		for _, id := range []string{"theme", "search", "agent", "tag", "order", "deep", "summary"} {
			Expect(seen).To(HaveKey(id))
		}
		t.JS(`document.querySelector(".scenario summary").focus()`)
		t.Press(kb.ArrowDown)
		Expect(t.Is(`document.activeElement === document.querySelectorAll(".scenario > details > summary")[1]`)).To(BeTrue())
		t.Press(kb.ArrowUp)
		t.Press(kb.Enter)
		t.Waits(`document.querySelector(".scenario > details").open && document.querySelector(".scenario .findings")`)
	})

	It("is accessible to screen readers: landmarks, names, captions and counts", func() {
		t.OpenFile(html, "#orders/refund/2/1")
		t.Waits(`document.querySelector(".call")`)
		for _, css := range []string{"main", "nav[aria-label]", "form[role=search]", "[role=status]", "h1", "html[lang=en]"} {
			Expect(t.Is(`document.querySelectorAll(%q).length === 1`, css)).To(BeTrue(), css)
		}
		Expect(browser.Value[[]string](t, `[...document.querySelectorAll("table")].filter((e) => !e.caption?.textContent.trim()).map((e) => e.outerHTML.slice(0, 100))`)).To(BeEmpty())
		Expect(browser.Value[[]string](t, `[...document.querySelectorAll("th:not([scope])")].map((e) => e.textContent)`)).To(BeEmpty())
		Expect(browser.Value[[]string](t, `[...document.querySelectorAll("svg[role=img]")].filter((e) => !e.getAttribute("aria-label") && !e.querySelector("title")).map((e) => e.outerHTML.slice(0, 100))`)).To(BeEmpty())
		Expect(browser.Value[[]string](t, `[...document.querySelectorAll("input, select, button")].filter((e) => !(e.labels?.length || e.textContent.trim())).map((e) => e.outerHTML)`)).To(BeEmpty())
		Expect(browser.Value[[]string](t, `[...document.querySelectorAll("[id]")].map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i)`)).To(BeEmpty(), "ids twice")
		Expect(browser.Value[[]string](t, `[...document.querySelectorAll(".badge, .heat td, .outcome")].filter((e) => !e.textContent.replace(/[^a-z]/g, "") && !e.matches(".none")).map((e) => e.outerHTML)`)).To(BeEmpty(), "colour alone")
		Expect(browser.Value[[]string](t, `[...document.querySelectorAll("h1, h2, h3, h4, h5")].map((e) => Number(e.localName[1])).map((n, i, all) => i && n > all[i - 1] + 1 ? "h" + all[i - 1] + " to h" + n : "").filter(Boolean)`)).To(BeEmpty())
	})

	It("has enough contrast in both themes", func() {
		for _, scheme := range []string{"light", "dark"} {
			t.Scheme(scheme)
			t.OpenFile(html, "#orders/refund/2/1")
			t.Waits(`document.querySelector(".call")`)
			Expect(browser.Value[[]string](t, lowContrast)).To(BeEmpty(), scheme)
		}
	})

	It("is read without JavaScript", func() {
		other := browser.NewTab(browser.Start(), "")
		other.NoScript()
		other.OpenFile(html, "")
		Expect(other.Is(`document.getElementById("orders/refund/2/3")`)).To(BeTrue())
		Expect(other.Is(`[...document.querySelectorAll(".script")].every((e) => e.offsetHeight === 0)`)).To(BeTrue(), "what needs a script is hidden")
		other.Click(`[id="orders/refund"] > summary`)
		other.Click(`[id="orders/refund/2"] > summary`)
		Expect(other.Text(`[id="orders/refund/2/1"]`)).To(ContainSubstring("Next, I will issue the refund."))
		other.OpenFile(html, "#orders/refund/2/2")
		other.Waits(`document.getElementById("orders/refund/2/2").offsetHeight > 0 && document.getElementById("orders/refund/2").open`)
		Expect(other.Heard()).To(BeEmpty())
	})

	It("prints, with the details of what did not pass", func() {
		t.OpenFile(html, "")
		before := len(t.PDF())
		Expect(t.Is(`document.getElementById("orders/outage").open && document.querySelector(".findings")`)).To(BeTrue())
		if folder := os.Getenv("REHEARSE_SCREENSHOTS"); folder != "" {
			Expect(os.WriteFile(filepath.Join(folder, "report.pdf"), t.PDF(), 0o600)).To(Succeed())
		}
		Expect(before).To(BeNumerically(">", 10_000))
	})

	It("fits windows of all widths", func() {
		for _, scheme := range []string{"light", "dark"} {
			t.OpenFile(html, "")
			t.Shoot("summary", 1280, scheme)
			t.Shoot("summary", 390, scheme)
			t.OpenFile(html, "#orders/refund/2/2")
			t.Waits(`document.querySelector(".call")`)
			t.JS(`document.querySelectorAll(".trial .more").forEach((e) => { e.open = true; })`)
			t.Shoot("trial", 1280, scheme)
			t.Shoot("trial", 390, scheme)
		}
		t.Shoot("trial", 320, "light")
		t.Do(chromedp.EmulateViewport(1280, 900))
	})

	It("contains only its own texts", func() {
		Expect(html).NotTo(MatchRegexp(`(?i)(src|href|srcset|action)\s*=\s*"?[^#"]|url\(|@import`))
	})
})

// lowContrast lists texts that stand out too little from their ground (WCAG 2.2,
// success criterion 1.4.3): below 4.5, or 3 for large ones. Grounds that let others
// through are put over these.
const lowContrast = `(() => {
	const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
	const rgba = (css) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = css; canvas.fillRect(0, 0, 1, 1); const d = canvas.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
	const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
	const ground = (e) => { if (!e) return [255, 255, 255, 1]; const c = rgba(getComputedStyle(e).backgroundColor); return c[3] === 1 ? c : over(c, ground(e.parentElement)); };
	const light = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const bad = new Set();
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (!walk.currentNode.textContent.trim() || !e.checkVisibility() || e.closest("noscript, .past")) continue;
		const style = getComputedStyle(e), below = ground(e);
		const svg = e.closest("svg");
		const color = over(rgba(svg ? style.fill : style.color), below);
		const [a, b] = [light(color), light(below)].sort((x, y) => y - x);
		const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
		if (svg && e.matches(".on, .mark")) continue;
		if ((a + 0.05) / (b + 0.05) < (large ? 3 : 4.5)) bad.add(e.localName + "." + (e.getAttribute("class") ?? "") + " " + ((a + 0.05) / (b + 0.05)).toFixed(2) + " " + walk.currentNode.textContent.slice(0, 30));
	}
	return [...bad].slice(0, 20);
})()`
