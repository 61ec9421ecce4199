package page_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/browser"
	"github.com/rehearse-dev/rehearse/reports/page"
)

var _ = Describe("A page in a browser", Label("H-05"), Ordered, ContinueOnFailure, func() {
	var t *tab
	html := ""

	BeforeAll(func() {
		t = newTab(browser.Start())
		html = small().page(page.Options{})
	})
	BeforeEach(func() { t.scheme("light") })
	AfterEach(func() { Expect(t.heard()).To(BeEmpty(), "errors, breaches of the policy or requests") })

	It("opens with the verdict, and with all details folded", func() {
		t.open(html, "")
		Expect(t.text("h1")).To(HavePrefix("Error"))
		Expect(t.text("#count")).To(Equal("5 scenarios"))
		Expect(t.is(`document.querySelector(".call")`)).To(BeFalse(), "transcripts are inert")
		Expect(t.is(`document.title.includes("rehearse")`)).To(BeTrue())
	})

	It("filters by verdict, agent, tag and words, and counts the matches", func() {
		t.open(html, "")
		shown := func() []string {
			return value[[]string](t, `[...document.querySelectorAll(".scenario:not([hidden]) .name b")].map((e) => e.textContent)`)
		}
		t.click("#filter .choice.fail span")
		Expect(shown()).To(ConsistOf("orders/refund", "orders/golden [call=2:reset-mid-stream]"))
		Expect(t.text("#count")).To(Equal("2 of 5 scenarios"))
		t.click("#filter .choice.error span")
		Expect(shown()).To(HaveLen(3))
		t.js(`const s = document.getElementById("agent"); s.value = "supervisor"; s.dispatchEvent(new Event("change", {bubbles: true}))`)
		Expect(shown()).To(ConsistOf("orders/outage"))
		t.js(`document.getElementById("filter").reset(); document.getElementById("filter").dispatchEvent(new Event("change", {bubbles: true}))`)
		Expect(shown()).To(HaveLen(5))
		t.js(`const s = document.getElementById("tag"); s.value = "guard"; s.dispatchEvent(new Event("change", {bubbles: true}))`)
		Expect(shown()).To(ConsistOf("orders/refund"))
		t.js(`const s = document.getElementById("tag"); s.value = ""; s.dispatchEvent(new Event("change", {bubbles: true}))`)

		t.slash()
		Expect(t.is(`document.activeElement.id === "search"`)).To(BeTrue())
		t.write("PROVIDER does")
		t.waits(`document.getElementById("count").textContent === "1 of 5 scenarios"`)
		Expect(shown()).To(ConsistOf("orders/outage"))
		t.press(kb.Escape)
		Expect(shown()).To(HaveLen(5))
		t.write("ledger") // in an answer
		t.waits(`document.getElementById("count").textContent === "1 of 5 scenarios"`)
		t.press(kb.Escape)
		t.write("at most 3") // in a finding
		t.waits(`document.getElementById("count").textContent === "1 of 5 scenarios"`)
		t.press(kb.Escape)
		t.write("mail?") // in a transcript
		t.waits(`document.getElementById("count").textContent.startsWith("0 of 5 scenarios: no name")`)
		t.js(`document.getElementById("deep").click()`)
		t.waits(`document.getElementById("count").textContent === "1 of 5 scenarios"`)
		Expect(shown()).To(ConsistOf("orders/refund"))
	})

	It("finds texts with escaped characters in transcripts that were not opened", func() {
		t.open(html, "")
		t.js(`document.getElementById("deep").checked = true`)
		t.slash()
		t.write(`{"order":`)
		t.waits(`document.getElementById("count").textContent === "1 of 5 scenarios"`)
	})

	It("sorts", func() {
		t.open(html, "")
		t.js(`const s = document.getElementById("order"); s.value = "calls"; s.dispatchEvent(new Event("change", {bubbles: true}))`)
		calls := value[[]float64](t, `[...document.querySelectorAll(".scenario")].map((e) => Number(e.dataset.calls))`)
		for i := 1; i < len(calls); i++ {
			Expect(calls[i]).To(BeNumerically("<=", calls[i-1]))
		}
		Expect(calls[0]).To(BeNumerically(">", calls[len(calls)-1]))
	})

	It("sorts by the heads of the columns, and back", func() {
		t.open(html, "")
		calls := func() []float64 {
			return value[[]float64](t, `[...document.querySelectorAll(".scenario")].map((e) => Number(e.dataset.calls))`)
		}
		t.click(`.columns [data-by=calls]`)
		falling := calls()
		Expect(slices.IsSortedFunc(falling, func(a, b float64) int { return cmp.Compare(b, a) })).To(BeTrue(), "%v", falling)
		Expect(t.is(`document.querySelector(".columns [aria-pressed=true]").dataset.by === "calls"`)).To(BeTrue())
		t.click(`.columns [data-by=calls]`)
		Expect(slices.IsSorted(calls())).To(BeTrue(), "%v", calls())
		Expect(falling).NotTo(Equal(calls()))
	})

	It("sorts a table by its heads", func() {
		t.open(html, "#orders/refund/1")
		t.waits(`document.querySelector("[id='orders/refund'] .measures th .sort")`)
		t.js(`document.querySelector("[id='orders/refund'] .more").open = true`)
		names := func() []string {
			return value[[]string](t, `[...document.querySelectorAll("[id='orders/refund'] .measures tbody th")].map((e) => e.textContent)`)
		}
		before := names()
		t.js(`document.querySelector("[id='orders/refund'] .measures th .sort").click()`)
		Expect(names()).To(Equal(slices.Sorted(slices.Values(before))))
		Expect(names()).NotTo(Equal(before))
		Expect(t.is(`document.querySelector("[id='orders/refund'] .measures th").ariaSort === "ascending"`)).To(BeTrue())
	})

	It("keeps the filters in the address", func() {
		t.open(html, "")
		t.click("#filter .choice.fail span")
		t.slash()
		t.write("at most")
		t.waits(`document.getElementById("count").textContent === "1 of 5 scenarios"`)
		t.waits(`location.hash === "#?q=at+most&verdict=fail"`)
		t.open(html, "#?q=at+most&verdict=fail&sort=name,reversed")
		t.waits(`document.getElementById("count").textContent === "1 of 5 scenarios"`)
		Expect(t.is(`document.getElementById("search").value === "at most" && document.querySelector("input[value=fail]").checked`)).To(BeTrue())
		Expect(t.is(`document.querySelector(".scenario:not([hidden]) .name b").textContent === "orders/refund"`)).To(BeTrue())
		Expect(t.is(`document.querySelector(".columns [data-by=name]").dataset.sorted === "down"`)).To(BeTrue(), "from Z to A")
		t.open(html, "#?sort=__proto__&verdict=nothing&tag=none")
		t.waits(`document.getElementById("count").textContent.startsWith("5 scenarios") || document.getElementById("count").textContent.startsWith("0 of 5")`)
	})

	It("leads from failure to failure", func() {
		t.open(html, "")
		var seen []string
		for _, key := range []string{"n", "n", "n", "n", "p"} {
			before := value[string](t, `document.activeElement.parentElement?.id ?? ""`)
			t.press(key)
			t.waits(`(document.activeElement.parentElement?.id ?? "") !== %q && document.activeElement.closest("details")?.open`, before)
			seen = append(seen, value[string](t, `document.activeElement.parentElement.id`))
		}
		Expect(seen[:3]).To(ConsistOf("orders/outage", "orders/refund", "orders/golden-call-2-reset-mid-stream"))
		Expect(seen[3:]).To(Equal([]string{seen[0], seen[2]}), "from the last to the first, and back")
		t.waits(`document.getElementById("orders/refund/2")?.open`)
		Expect(t.is(`document.getElementById("orders/refund/1").open`)).To(BeFalse(), "it passed")
	})

	It("moves with arrow keys from the search into the list and back", func() {
		t.open(html, "")
		t.slash()
		t.press(kb.ArrowDown)
		Expect(t.is(`document.activeElement === document.querySelector(".scenario summary")`)).To(BeTrue())
		t.press(kb.ArrowUp)
		Expect(t.is(`document.activeElement.id === "search"`)).To(BeTrue())
		t.write("provider")
		t.waits(`document.getElementById("count").textContent === "1 of 5 scenarios"`)
		t.press(kb.Escape)
		t.press(kb.ArrowDown)
		t.press(kb.ArrowDown)
		Expect(t.is(`document.activeElement === document.querySelectorAll(".scenario > details > summary")[1]`)).To(BeTrue())
	})

	It("copies commands, evidence and messages", func() {
		t.open(html, "#orders/refund/2/1")
		t.waits(`document.querySelector("[id='orders/refund/2/1'] .copy")`)
		t.js(`window.copied = []; Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied.push(text); } } })`)
		for _, css := range []string{`[id='orders/refund'] .links .copy`, `[id='orders/refund/2'] .evidence .copy`, `[id='orders/refund/2/1'] .message.user .copy`} {
			t.js(`document.querySelector(%q).click()`, css)
		}
		t.waits(`window.copied.length === 3`)
		Expect(value[[]string](t, `window.copied`)).To(Equal([]string{"rehearse run scenarios/orders/refund.yaml --trials 2", "calls.total == 4", "Refund order 8."}))
		t.waits(`document.querySelector("[id='orders/refund'] .links .copy").textContent === "Copied"`)
	})

	It("shows a trial call by call", func() {
		t.open(html, "")
		t.click(`[id="orders/refund"] > summary`)
		t.waits(`document.getElementById("orders/refund/2")`)
		t.waits(`document.querySelector("[id='orders/refund'] .findings")`)
		Expect(t.text(`[id="orders/refund"] .findings`)).To(ContainSubstring("4 calls, and at most 3 are expected"))
		Expect(t.is(`document.querySelector(".call")`)).To(BeFalse(), "there are two trials, and none was opened")
		t.click(`[id="orders/refund/2"] > summary`)
		t.waits(`document.getElementById("orders/refund/2/4")`)
		first := t.text(`[id="orders/refund/2/1"]`)
		Expect(first).To(And(ContainSubstring("Refund order 8."), ContainSubstring("I looked at the order."), ContainSubstring("tokens in"), ContainSubstring("EUR"), ContainSubstring("600ms")))
		Expect(value[[]string](t, `[...document.querySelectorAll("mark")].map((e) => e.textContent + "|" + e.nextElementSibling.textContent.trim())`)).
			To(Equal([]string{"Next, I will issue the refund.|next steps", "Let me know if I should.|asks"}))
		second := t.text(`[id="orders/refund/2/2"]`)
		Expect(second).To(And(ContainSubstring("status took effect at replies[1]"), ContainSubstring("attempt 1 failed: rate-limited (429); again after 2s"),
			ContainSubstring("calls the tool refund"), ContainSubstring("shown before: m1 to m3")))
	})

	It("leads from a link to a single call, whatever was folded or filtered", func() {
		for _, fragment := range []string{"#orders/refund/2/3", "#orders%2Frefund%2F2%2F3"} {
			t.open(html, fragment)
			t.waits(`document.activeElement.id === "orders/refund/2/3"`)
			t.waits(`Math.abs(document.activeElement.getBoundingClientRect().top) < 200`)
		}
		t.js(`document.querySelector("#filter input[value=pass]").click()`)
		Expect(t.is(`document.getElementById("orders/refund").closest("li").hidden`)).To(BeTrue())
		t.at("#orders/refund/1/1")
		t.waits(`document.activeElement.id === "orders/refund/1/1" && !document.getElementById("orders/refund").closest("li").hidden`)
		t.at("#orders/refund/2/~m2")
		t.waits(`document.activeElement.id === "orders/refund/2/~m2"`)
		t.at("#nothing/of/this/name")
		t.at("#%E0%A4%A")
	})

	It("leads from the survival matrix to the run that failed", func() {
		t.open(html, "")
		Expect(t.text(".heat caption")).To(ContainSubstring("fault: each call"))
		t.click(".heat td.fail a")
		t.waits(`document.querySelector("[id='orders/golden-call-2-reset-mid-stream'][open] .call")`)
	})

	It("keeps the theme that was chosen, and follows the system before", func() {
		t.open(html, "")
		ground := func() string { return value[string](t, `getComputedStyle(document.body).backgroundColor`) }
		light := ground()
		t.scheme("dark")
		Eventually(ground).WithTimeout(patience).ShouldNot(Equal(light))
		dark := ground()
		choose := func(name string) {
			t.js(`document.getElementById("theme").click()`)
			t.waits(`document.getElementById("theme").textContent === %q`, "Theme: "+name)
		}
		choose("light")
		Eventually(ground).WithTimeout(patience).Should(Equal(light))
		choose("dark")
		t.scheme("light")
		Expect(t.is(`matchMedia("(prefers-color-scheme: light)").matches`)).To(BeTrue())
		Expect(ground()).To(Equal(dark))
		choose("system")
		Eventually(ground).WithTimeout(patience).Should(Equal(light))
		t.scheme("dark")
		Eventually(ground).WithTimeout(patience).Should(Equal(dark))
		choose("light")
		t.do(chromedp.Reload())
		t.waits(`document.getElementById("theme")?.textContent === "Theme: light"`)
		Eventually(ground).WithTimeout(patience).Should(Equal(light))
		t.js(`localStorage.clear()`)
	})

	It("is used by keyboard alone, with the focus seen", func() {
		t.open(html, "")
		t.press(kb.Tab)
		Expect(t.text(":focus")).To(Equal("Skip to the scenarios"))
		seen := map[string]bool{}
		for range 60 {
			t.press(kb.Tab)
			if t.is(`document.activeElement === document.body`) {
				break
			}
			Expect(t.is(focusSeen)).To(BeTrue(), value[string](t, `document.activeElement.outerHTML.slice(0, 200)`))
			seen[value[string](t, `document.activeElement.id || document.activeElement.localName`)] = true
		}
		for _, id := range []string{"theme", "search", "agent", "tag", "order", "deep", "summary"} {
			Expect(seen).To(HaveKey(id))
		}
		t.js(`document.querySelector(".scenario summary").focus()`)
		t.press(kb.ArrowDown)
		Expect(t.is(`document.activeElement === document.querySelectorAll(".scenario > details > summary")[1]`)).To(BeTrue())
		t.press(kb.ArrowUp)
		t.press(kb.Enter)
		t.waits(`document.querySelector(".scenario > details").open && document.querySelector(".scenario .findings")`)
	})

	It("is accessible to screen readers: landmarks, names, captions and counts", func() {
		t.open(html, "#orders/refund/2/1")
		t.waits(`document.querySelector(".call")`)
		for _, css := range []string{"main", "nav[aria-label]", "form[role=search]", "[role=status]", "h1", "html[lang=en]"} {
			Expect(t.is(`document.querySelectorAll(%q).length === 1`, css)).To(BeTrue(), css)
		}
		Expect(value[[]string](t, `[...document.querySelectorAll("table")].filter((e) => !e.caption?.textContent.trim()).map((e) => e.outerHTML.slice(0, 100))`)).To(BeEmpty())
		Expect(value[[]string](t, `[...document.querySelectorAll("th:not([scope])")].map((e) => e.textContent)`)).To(BeEmpty())
		Expect(value[[]string](t, `[...document.querySelectorAll("svg[role=img]")].filter((e) => !e.getAttribute("aria-label") && !e.querySelector("title")).map((e) => e.outerHTML.slice(0, 100))`)).To(BeEmpty())
		Expect(value[[]string](t, `[...document.querySelectorAll("input, select, button")].filter((e) => !(e.labels?.length || e.textContent.trim())).map((e) => e.outerHTML)`)).To(BeEmpty())
		Expect(value[[]string](t, `[...document.querySelectorAll("[id]")].map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i)`)).To(BeEmpty(), "ids twice")
		Expect(value[[]string](t, `[...document.querySelectorAll(".badge, .heat td, .outcome")].filter((e) => !e.textContent.replace(/[^a-z]/g, "") && !e.matches(".none")).map((e) => e.outerHTML)`)).To(BeEmpty(), "colour alone")
		Expect(value[[]string](t, `[...document.querySelectorAll("h1, h2, h3, h4, h5")].map((e) => Number(e.localName[1])).map((n, i, all) => i && n > all[i - 1] + 1 ? "h" + all[i - 1] + " to h" + n : "").filter(Boolean)`)).To(BeEmpty())
	})

	It("has enough contrast in both themes", func() {
		for _, scheme := range []string{"light", "dark"} {
			t.scheme(scheme)
			t.open(html, "#orders/refund/2/1")
			t.waits(`document.querySelector(".call")`)
			Expect(value[[]string](t, lowContrast)).To(BeEmpty(), scheme)
		}
	})

	It("is read without JavaScript", func() {
		other := newTab(browser.Start())
		other.noScript()
		other.open(html, "")
		Expect(other.is(`document.getElementById("orders/refund/2/3")`)).To(BeTrue())
		Expect(other.is(`[...document.querySelectorAll(".script")].every((e) => e.offsetHeight === 0)`)).To(BeTrue(), "what needs a script is hidden")
		other.click(`[id="orders/refund"] > summary`)
		other.click(`[id="orders/refund/2"] > summary`)
		Expect(other.text(`[id="orders/refund/2/1"]`)).To(ContainSubstring("Next, I will issue the refund."))
		other.open(html, "#orders/refund/2/2")
		other.waits(`document.getElementById("orders/refund/2/2").offsetHeight > 0 && document.getElementById("orders/refund/2").open`)
		Expect(other.heard()).To(BeEmpty())
	})

	It("prints, with the details of what did not pass", func() {
		t.open(html, "")
		before := len(t.pdf())
		Expect(t.is(`document.getElementById("orders/outage").open && document.querySelector(".findings")`)).To(BeTrue())
		if folder := os.Getenv("REHEARSE_SCREENSHOTS"); folder != "" {
			Expect(os.WriteFile(filepath.Join(folder, "report.pdf"), t.pdf(), 0o600)).To(Succeed())
		}
		Expect(before).To(BeNumerically(">", 10_000))
	})

	It("fits windows of all widths", func() {
		for _, scheme := range []string{"light", "dark"} {
			t.open(html, "")
			t.shoot("summary", 1280, scheme)
			t.shoot("summary", 390, scheme)
			t.open(html, "#orders/refund/2/2")
			t.waits(`document.querySelector(".call")`)
			t.js(`document.querySelectorAll(".trial .more").forEach((e) => { e.open = true; })`)
			t.shoot("trial", 1280, scheme)
			t.shoot("trial", 390, scheme)
		}
		t.shoot("trial", 320, "light")
		t.do(chromedp.EmulateViewport(1280, 900))
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
