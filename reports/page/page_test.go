package page_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/browser"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/page"
)

var _ = Describe("A page", func() {
	It("matches the golden page", func() {
		golden.Expect("small.html", []byte(masked(small().page(page.Options{}))))
	})

	It("shows the calls of MCP servers behind the model call that they follow, and marks the failed ones", func() {
		t := dialogue("orders/tool", 1, [2]string{"Where is it?", "I look."}, [2]string{"And?", "It is here."})
		tool := func(reason string) record.Event {
			return record.Event{At: t.Calls[0].Latency, Event: event.New(1, "found", record.ToolCall{Server: "shop", Tool: "find", Arguments: "{}", Error: reason, Calls: 1})}
		}
		t.Events = append([]record.Event{tool("the server ended"), tool("")}, t.Events...)
		r := run{head: record.Run{Schema: record.Schema, ID: "1", Scenarios: 1, Trials: 1}}
		r.add(record.Scenario{Name: "orders/tool", Trials: 1, Agent: "loop", Backend: "openai"}, t)
		html := r.page(page.Options{})
		failed, worked := strings.Index(html, `<b>shop.find</b> <span class="badge fail">`), strings.Index(html, `<b>shop.find</b> <span class="said" dir="auto">found`)
		Expect(failed).To(And(BeNumerically(">", strings.Index(html, "I look.")), BeNumerically("<", worked)))
		Expect(worked).To(BeNumerically("<", strings.LastIndex(html, "It is here.")))
	})

	It("is the same twice, byte for byte", func() {
		Expect(small().page(page.Options{})).To(Equal(small().page(page.Options{})))
	})

	It("is written of an empty report", func() {
		html := run{head: record.Run{ID: "none"}}.page(page.Options{})
		Expect(html).To(And(ContainSubstring("No scenario was judged"), HaveSuffix("</html>\n")))
	})

	It("is that of a run and that of its recording, which are the same", func() {
		r := small()
		var recording bytes.Buffer
		w, err := record.NewWriter(&recording, r.head)
		Expect(err).NotTo(HaveOccurred())
		seen := map[string]bool{}
		for i := range r.trials {
			t := &r.trials[i]
			t.findings = nil
			if !seen[t.scenario.Name] {
				seen[t.scenario.Name] = true
				Expect(w.Scenario(t.scenario)).To(Succeed())
			}
			lines, err := record.Encode(t.trial)
			Expect(err).NotTo(HaveOccurred())
			Expect(w.Trial(lines)).To(Succeed())
		}
		Expect(w.Close(record.Close{Trials: len(r.trials)})).To(Succeed())

		b := page.New(&memory{}, page.Options{})
		judge := func(s record.Scenario, t record.Trial) (measure.Facts, []gate.Finding, error) {
			return measure.Trial(s, t, nil, kinds.Language().Extensions()), nil, nil
		}
		report, err := reports.FromRecording(&recording, kinds.Language().Extensions(), b.Judge(judge))
		Expect(err).NotTo(HaveOccurred())
		var out bytes.Buffer
		in := r.input
		in.Report = report.Close()
		in.Report.Comparison = r.comparison
		Expect(b.Write(&out, in)).To(Succeed())
		Expect(out.String()).To(Equal(r.page(page.Options{})))
	})

	It("does not show an interrupted run as a pass", func() {
		r := run{head: record.Run{ID: "cut", Scenarios: 3}, notRun: []string{"b", "c"}}
		r.add(record.Scenario{Name: "a", Trials: 1, Agent: "loop"}, dialogue("a", 1, [2]string{"Where?", "Here."}))
		Expect(plainText(r.page(page.Options{}), `<h1 id="headline">`, "</h1>")).To(Equal("interrupted. 1 scenario: 1 passed; 2 others not completed"))
	})

	It("leads with the first finding and its evidence", func() {
		r := run{head: record.Run{ID: "bad", Scenarios: 1}}
		r.add(record.Scenario{Name: "a", Trials: 1, Agent: "command"}, dialogue("a", 1, [2]string{"Where?", "Here."}),
			gate.Finding{Severity: gate.Failing, Rule: "unexpected-call", Message: "no line answers", Evidence: "call 1: the closest is rules[1]"},
			gate.Finding{Severity: gate.Failing, Rule: "status", Message: "expected done"})
		Expect(r.page(page.Options{})).To(MatchRegexp(`(?s)id="attention".*no line answers.*call 1: the closest is rules\[1\].*id="scenarios"`))
	})

	It("leaves out passing trials before failing ones, and counts them", func() {
		r := run{head: record.Run{ID: "large", Scenarios: 40}}
		words := func(i, n int) string { // that cannot be compressed
			text := make([]byte, 6000)
			_, _ = rand.NewChaCha8([32]byte{byte(i), byte(n)}).Read(text)
			return base64.StdEncoding.EncodeToString(text)
		}
		for i := range 40 {
			s := record.Scenario{Name: fmt.Sprintf("s/x%02d", i), Trials: 4, Agent: "loop"}
			for n := 1; n <= 4; n++ {
				var findings []gate.Finding
				if n == 3 && i%8 == 0 {
					findings = []gate.Finding{{Severity: gate.Failing, Rule: "calls", Message: "too many"}}
				}
				r.add(s, dialogue(s.Name, n, [2]string{"Where?", words(i, n)}), findings...)
			}
		}
		html := r.page(page.Options{MaxBytes: 1_000_000})
		Expect(len(html)).To(And(BeNumerically("<=", 1_000_000), BeNumerically(">", 400_000)))
		for i := range 40 {
			has := regexp.MustCompile(fmt.Sprintf(`id="s/x%02d/(\d)"`, i)).FindAllStringSubmatch(html, -1)
			Expect(has).NotTo(BeEmpty(), "the first trial of each scenario is kept")
			Expect(has[0][1]).To(Equal("1"))
			if i%8 == 0 {
				Expect(html).To(ContainSubstring(fmt.Sprintf(`id="s/x%02d/3"`, i)), "a trial that failed is kept")
			}
		}
		shown := strings.Count(html, `class="trial"`)
		Expect(shown).To(BeNumerically("<", 160))
		Expect(html).To(ContainSubstring(fmt.Sprintf("There are %d trials without details here (%d pass)", 160-shown, 160-shown)))
	})

	It("shows 500 passing trials of a scenario, and each that failed", func() {
		r := run{head: record.Run{ID: "trials"}}
		s := record.Scenario{Name: "s/x", Trials: 600, Agent: "loop"}
		for n := 1; n <= 600; n++ {
			var findings []gate.Finding
			if n == 600 {
				findings = []gate.Finding{{Severity: gate.Failing, Rule: "calls", Message: "too many"}}
			}
			r.add(s, dialogue(s.Name, n, [2]string{"Where?", "Here."}), findings...)
		}
		html := r.page(page.Options{})
		Expect(strings.Count(html, `class="trial"`)).To(Equal(501))
		Expect(html).To(ContainSubstring(`id="s/x/600"`))
		Expect(html).To(ContainSubstring("There are 99 trials without details here (99 pass): the page shows at most 500 passing trials of a scenario"))
	})

	It("keeps to its bound however many scenarios there are", func() {
		r := run{head: record.Run{ID: "many"}}
		for i := range 3000 {
			s := record.Scenario{Name: fmt.Sprintf("s/x%04d", i), About: strings.Repeat("x", 200), Trials: 1, Agent: "loop"}
			var findings []gate.Finding
			if i == 2999 {
				findings = []gate.Finding{{Severity: gate.Failing, Rule: "calls", Message: "too many"}}
			}
			r.add(s, dialogue(s.Name, 1, [2]string{"Where?", "Here."}), findings...)
		}
		html := r.page(page.Options{MaxBytes: 1_000_000})
		Expect(len(html)).To(BeNumerically("<=", 1_000_000))
		Expect(html).To(And(ContainSubstring(`id="s/x2999/1"`), MatchRegexp(`[0-9,]+ of 3,000 scenarios are left out`)))
	})

	It("shows the first and the last calls of a trial that is too large", func() {
		var turns [][2]string
		for i := range 1000 {
			turns = append(turns, [2]string{fmt.Sprint("question ", i), fmt.Sprint(i, strings.Repeat(" and on", 2000))})
		}
		r := run{head: record.Run{ID: "long"}}
		s := record.Scenario{Name: "long", Trials: 1, Agent: "loop"}
		r.add(s, dialogue(s.Name, 1, turns...))
		html := unpacked(r.page(page.Options{}))
		Expect(html).To(And(ContainSubstring(`id="long/1/1"`), ContainSubstring(`id="long/1/1000"`), Not(ContainSubstring(`id="long/1/500"`)),
			MatchRegexp(`\d+ calls are left out here`)))
		Expect(len(html)).To(BeNumerically("<", 5_000_000))
	})

	It("cuts long texts, with a note", func() {
		r := run{head: record.Run{ID: "text"}}
		s := record.Scenario{Name: "text", Trials: 1, Agent: "loop"}
		r.add(s, dialogue(s.Name, 1, [2]string{"q", "begin" + strings.Repeat("é", 1<<20) + "end"}))
		html := r.page(page.Options{})
		Expect(html).To(And(ContainSubstring("begin"), ContainSubstring("end</div>"), ContainSubstring("bytes are left out here; the recording has them")))
		Expect(html).NotTo(ContainSubstring("\ufffd"), "no character is cut in two")
		Expect(len(html)).To(BeNumerically("<", 200_000))
	})

	It("places events after their call, even if calls take no time", func() {
		t := dialogue("quick", 1, [2]string{"a", "one"}, [2]string{"b", "two"}, [2]string{"c", "three"})
		t.Events = nil
		for i := range t.Calls {
			t.Calls[i].At, t.Calls[i].Latency = 0, 0
			t.Events = append(t.Events, record.Event{Event: event.Event{
				Kind: event.Verdict, Name: "stop", N: i + 1, Attrs: map[string]any{"quote.1.asks": []string{"one", "two", "three"}[i]},
			}}, record.Event{Event: event.Event{Kind: event.State, Name: fmt.Sprint("after-", i+1)}})
		}
		r := run{head: record.Run{ID: "quick"}}
		r.add(record.Scenario{Name: "quick", Trials: 1, Agent: "loop"}, t)
		calls := strings.Split(r.page(page.Options{}), `<li class="call"`)
		Expect(calls).To(HaveLen(4))
		for i, text := range []string{"one", "two", "three"} {
			Expect(calls[i+1]).To(And(ContainSubstring("<mark>"+text+"</mark>"), ContainSubstring(fmt.Sprint("after-", i+1))))
		}
	})

	It("reports errors of the spool and of the writer", func() {
		s := record.Scenario{Name: "a", Trials: 1}
		t := dialogue("a", 1, [2]string{"q", "a"})
		facts := measure.Trial(s, t, nil, kinds.Language().Extensions())
		Expect(page.New(full{}, page.Options{}).Trial(&s, &t, &facts, nil)).To(MatchError(ContainSubstring("keep trial 1 of a for the page: no space")))
		b := page.New(&memory{}, page.Options{})
		Expect(b.Trial(&s, &t, &facts, nil)).To(Succeed())
		Expect(b.Write(full{}, page.Input{})).To(MatchError(ContainSubstring("write the page: no space")))
	})
})

// full is a disk that is.
type full struct{ io.ReaderAt }

func (full) Write([]byte) (int, error) { return 0, errors.New("no space") }

// masked takes out what has tests of its own and changes often: the style sheet, the
// script and the drawings.
func masked(html string) string {
	for element, text := range map[string]string{"style": "…", "script": "…", "svg": "…"} {
		html = regexp.MustCompile(`(?s)<`+element+`[ >].*?</`+element+`>`).ReplaceAllString(html, "<"+element+">"+text+"</"+element+">")
	}
	return regexp.MustCompile(`sha256-(?:[A-Za-z0-9/=]|&#43;)+`).ReplaceAllString(html, "sha256-…")
}

var _ = Describe("Ids", func() {
	It("are unique for any names of scenarios", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			names := rapid.SliceOfNDistinct(rapid.StringMatching(`(a|b|1|/| |~|summary|top|é|-){1,6}`), 1, 8, rapid.ID[string]).Draw(rt, "names")
			if err := distinctIDs(names); err != nil {
				rt.Fatal(err)
			}
		})
	})

	It("of a scenario are none of a trial or a call of another, nor of the page", func() {
		Expect(distinctIDs([]string{"a", "a/1", "a/1/2", "a/1/~m1", "summary", "scenarios", "é", "ü", "scenario", "a b", "a-b", "a  b"})).To(Succeed())
	})
})

// distinctIDs checks the ids of a page with a trial of two calls of each scenario.
func distinctIDs(names []string) error {
	r := run{head: record.Run{ID: "ids"}}
	for _, name := range names {
		s := record.Scenario{Name: name, Trials: 1, Agent: "loop"}
		r.add(s, dialogue(name, 1, [2]string{"q", "a"}, [2]string{"q2", "a2"}))
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(r.page(page.Options{}), -1) {
		if ids[m[1]] || strings.ContainsAny(m[1], " \"'<>&") || m[1] == "" {
			return fmt.Errorf("id %q twice or not plain", m[1])
		}
		ids[m[1]] = true
	}
	if len(ids) < 3*len(names) {
		return fmt.Errorf("%d ids", len(ids))
	}
	return nil
}

// nasty are texts that try to get out of where they are put.
var nasty = []string{
	`</noscript><script>document.title = "owned"; alert(1)</script>`,
	`</style><img src=x onerror="document.title = 'owned'">`,
	`<svg onload="document.title = 'owned'"><a xlink:href="javascript:alert(1)">x</a></svg>`,
	`"><script>document.title = "owned"</script>`, `' onmouseover='document.title = "owned"' x='`,
	`<!--`, `--><script>document.title = "owned"</script><!--`, `<plaintext>`, `<textarea>`, `<base href="https://example.com/">`,
	`<meta http-equiv="refresh" content="0;url=https://example.com/">`, `<link rel=stylesheet href=https://example.com/x.css>`,
	`<iframe srcdoc="<script>parent.document.title = 'owned'</script>"></iframe>`, `<form action="https://example.com/"><input name=a></form>`,
	`&lt;/noscript&gt;&lt;script&gt;document.title = "owned"&lt;/script&gt;`, `&#60;script&#62;`, `{{.}} ${7*7} <%= 1 %>`,
	"\x00\x01\x1b[31m\x7f", "\xff\xfe broken \xc3(", "\u202eright to left\u202c \u2066isolated\u2069", "مرحبا بالعالم עולם",
	"Z̸̢̛̤̻͖̝̲̘͎̲̦͎̺̈́̓̈́̎̄͛͆͒̈́̚͝a̷͖̐l̵̡̛͉͔̪̯̣͚̪͔̊̍̏̿̈́̓̚͠g̴̠̯̗̿̅̋͋̈̿̕̕o̵̯̱̎̄̍͋̄̽̓̀̕", "👩‍👩‍👧‍👦🏳️‍🌈", "\u2028line\u2029separators\ufeff", strings.Repeat("W", 5000), strings.Repeat("🙂", 3000),
	"]]>", `\u003cscript\u003e`, "javascript:alert(1)", "\r\n\t\v",
}

// hostile returns a run with hostile texts in every text field of a recording.
func hostile() run {
	r := run{head: record.Run{ID: nasty[0], Tool: nasty[1], Prices: nasty[2], Labels: map[string]string{nasty[3]: nasty[4], nasty[17]: nasty[19]}}}
	for i, text := range nasty {
		other := nasty[(i+1)%len(nasty)]
		s := record.Scenario{
			Name: fmt.Sprint(i, text), File: text, About: text, Proves: []string{text}, Tags: []string{text, other}, Agent: text, Backend: text,
			Model: text, Digest: text, Trials: 2, Perturb: []string{text},
		}
		t := dialogue(s.Name, 1, [2]string{text, other}, [2]string{other + text, text + text})
		for j := range t.Calls {
			c := &t.Calls[j]
			c.Purpose, c.Model, c.Finish, c.Tags = text, text, llm.FinishReason(text), map[string]string{text: other}
			c.Retries = []llm.Retry{{Kind: llm.ErrorKind(text)}}
			t.Messages[j].Role, t.Messages[j].Name, t.Messages[j].ToolCallID = llm.Role(text), text, text
			t.Messages[j].ToolCalls = []llm.ToolCall{{ID: text, Name: text, Arguments: text}}
			t.Exchanges[j].Line, t.Exchanges[j].Fault, t.Exchanges[j].Problem = text, text, text
			t.Events[j].Event = event.Event{
				Kind: event.Verdict, Name: text, Detail: text, Attrs: map[string]any{text: other, "quote.1." + text: other[:len(other)/2+1], "quote.2.x": text},
			}
		}
		t.Calls[1].Reply, t.Calls[1].Error = "", &record.CallError{Kind: llm.ErrorKind(text), Message: text}
		t.Script = record.Script{Unused: []string{text}, Unexpected: []string{text}, Invalid: []string{text}, Unfired: []string{text}}
		t.Script.Storage = []record.StorageRequest{{Request: text, Status: 429, Line: text, Fault: text, Fired: true}}
		t.End = record.End{Status: text, Text: text + "!", Summary: text, Details: text, HarnessError: text, Skipped: text}
		r.add(s, t, gate.Finding{Severity: gate.Severity(text), Rule: text, Message: text, At: text, Evidence: text}, gate.Finding{Severity: gate.Failing, Message: text})
	}
	c, e, d := comparison(), exploration(), scores()
	for i := range c.Comparisons {
		c.Comparisons[i].Scenario, c.Comparisons[i].Measure, c.Comparisons[i].Why = nasty[i], nasty[i+1], nasty[i+2]
	}
	c.Before, c.Bless, c.Changed[0].What, c.Changed[0].Before, c.Findings[0].Message = nasty[0], nasty[1], nasty[2], nasty[3], nasty[4]
	e.Scenario, e.Stopped, e.Left = nasty[0], nasty[1], nasty
	for i := range e.Cells {
		e.Cells[i].Perturb = []string{"call=1:" + nasty[i]}
		e.Cells[i].Command = nasty[i]
		if len(e.Cells[i].Findings) > 0 {
			e.Cells[i].Findings[0] = gate.Finding{Severity: gate.Failing, Rule: nasty[0], Message: nasty[1], Evidence: nasty[2]}
		}
	}
	e.Calls[0].Purpose = nasty[0]
	d.Detectors[0].Detector = nasty[0]
	r.comparison, r.input.Detection = c, d
	r.input.Explored = append(r.input.Explored, e)
	return r
}

var _ = It("shows the requests about files and batches that met a fault or did not wait", func() {
	var r run
	s, t := record.Scenario{Name: "batch", Trials: 1}, dialogue("batch", 1, [2]string{"a", "b"})
	t.Script.Storage = []record.StorageRequest{
		{Request: "POST /v1/files", Status: 429, Line: "storage[0]", Fault: "status", Fired: true},
		{Request: "POST /v1/batches", Status: 200, Early: true},
		{Request: "GET /v1/files", Status: 200},
	}
	r.add(s, t, gate.Finding{Severity: gate.Failing, Message: "x"})
	html := r.page(page.Options{})
	Expect(html).To(ContainSubstring("POST /v1/files got 429: status took effect (storage[0])"))
	Expect(html).To(ContainSubstring("POST /v1/batches got 200, before the wait was over that the answer before asked for"))
	Expect(html).NotTo(ContainSubstring("GET /v1/files"))
})

var _ = Describe("A page of hostile texts", func() {
	It("has no element and no attribute that a text brought", func() {
		html := hostile().page(page.Options{})
		Expect(strings.Count(html, "<script")).To(Equal(1))
		Expect(strings.Count(html, "<style")).To(Equal(1))
		Expect(strings.Count(html, "<noscript>")).To(Equal(strings.Count(html, "</noscript>")))
		for _, never := range []string{"<!--", "<plaintext", "<textarea", "<base", "<iframe", "<img", "<link", "onerror=\"", "onload=\"", "\x00", "\u202e", "\u2066", "\x1b", `href="javascript`} {
			Expect(strings.ToLower(html)).NotTo(ContainSubstring(never), "%q", never)
		}
		Expect(html).To(Equal(strings.ToValidUTF8(html, "?")))
	})

	It("runs nothing, asks for nothing and shows every text in a browser", func() {
		b := browser.Start()
		t := browser.NewTab(b, "")
		t.Scheme("light")
		t.OpenFile(hostile().page(page.Options{}), "")
		t.Shoot("hostile", 1280, "light")
		title := browser.Value[string](t, "document.title")
		t.JS(`document.querySelectorAll("details").forEach((d) => { d.open = true; })`)
		t.Waits(`!document.querySelector("noscript")`)
		t.JS(`document.querySelectorAll("details").forEach((d) => { d.open = true; })`)
		t.Waits(`!document.querySelector("noscript")`)
		Expect(browser.Value[int](t, `document.querySelectorAll("script, style, img, iframe, object, embed, link, base, form, input").length`)).
			To(Equal(browser.Value[int](t, `document.querySelectorAll("head > script, head > style, #filter, #filter input").length`)))
		Expect(browser.Value[[]string](t, `[...document.querySelectorAll("*")].flatMap((e) => [...e.attributes].filter((a) => a.name.startsWith("on") || a.name === "style" && !e.matches(".scenario") || /javascript:/i.test(a.value) && /href|src/.test(a.name)).map((a) => e.localName + " " + a.name))`)).To(BeEmpty())
		Expect(browser.Value[string](t, "document.title")).To(Equal(title))
		all := browser.Value[string](t, `document.body.textContent`)
		for _, text := range []string{nasty[0], nasty[6], nasty[14], `\x00\x01\x1b[31m\x7f`, `\u202eright to left\u202c`, "مرحبا بالعالم", "👩‍👩‍👧‍👦"} {
			Expect(all).To(ContainSubstring(text))
		}
		t.Fits("hostile", 1280)
		t.Fits("hostile", 390)
		Expect(t.Heard()).To(BeEmpty())

		plain := browser.NewTab(b, "")
		plain.NoScript()
		plain.OpenFile(hostile().page(page.Options{}), "")
		Expect(plain.Text("body")).To(ContainSubstring(nasty[6]))
		Expect(plain.Heard()).To(BeEmpty())
	})
})

var _ = Describe("The origin of a run", func() {
	It("is below the headline", func() {
		r := small()
		Expect(r.page(page.Options{})).NotTo(ContainSubstring(`id="origin"`))
		r.input.Origin = reports.Origin{
			Began: time.Date(2026, 11, 23, 15, 4, 0, 0, time.UTC), Ended: time.Date(2026, 11, 23, 15, 4, 16, 0, time.UTC),
			Origin: history.Origin{Commit: "0123456789abcdef0123", Branch: "<b>main", Dirty: true, Command: "rehearse run"},
		}
		Expect(r.page(page.Options{})).To(ContainSubstring(`<i>date</i> <bdi>2026-11-23 15:04 UTC</bdi></span>` +
			`<span><i>took</i> <bdi>16s</bdi></span><span><i>command</i> <code class="command">rehearse run</code></span>` +
			`<span><i>commit</i> <bdi>0123456 with changes that are not committed</bdi></span><span><i>branch</i> <bdi>&lt;b&gt;main</bdi></span>`))
	})
})
