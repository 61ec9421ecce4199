package compare_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/stat"
)

// read reads a text as the file b.json.
func read(text string) (compare.Baseline, error) {
	return compare.ReadBaseline("b.json", strings.NewReader(text))
}

var _ = Describe("the file", func() {
	It("is written as in the golden file", func() {
		got := compare.Encode(sample())
		golden.Expect("rehearse.baseline.json", got)
	})

	It("is read back unchanged", func() {
		text := compare.Encode(sample())
		back, err := read(string(text))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(compare.Encode(back))).To(Equal(string(text)))
		want := sample()
		want.Run, want.Tool = "", ""
		for i := range want.Scenarios {
			want.Scenarios[i].File = ""
		}
		// Times of a real process are not stored for a single trial.
		timed := want.Scenarios[0].Measures
		for i := range timed {
			if timed[i].Unit == "s" {
				timed[i] = compare.Measure{Name: timed[i].Name, Unit: "s"}
			}
		}
		Expect(cmp.Diff(want, back)).To(BeEmpty())
	})

	It("may have other white space", func() {
		text := compare.Encode(sample())
		_, err := read(string(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n  "))))
		Expect(err).NotTo(HaveOccurred())
	})
})

var _ = Describe("reading", Label("H-06"), func() {
	// edited replaces one occurrence of a text in the file.
	edited := func(old, now string) string {
		text := string(compare.Encode(sample()))
		Expect(strings.Count(text, old)).To(BeNumerically(">", 0), old)
		return strings.Replace(text, old, now, 1)
	}
	resummed := func(change func(*compare.Baseline)) string {
		b := sample()
		change(&b)
		return string(compare.Encode(b))
	}
	// steady returns the repeatable scenario of the sample.
	steady := func(b *compare.Baseline) *compare.Scenario { return &b.Scenarios[2] }

	DescribeTable("rejects a damaged file, with the position",
		// The position is the line that contains at; without it, the whole file.
		func(text func() string, at, path, message string) {
			content, line := text(), 0
			if at != "" {
				before, _, found := strings.Cut(content, at)
				Expect(found).To(BeTrue(), at)
				line = 1 + strings.Count(before, "\n")
			}
			_, err := read(content)
			found, ok := errors.AsType[yamlsrc.Diagnostics](err)
			Expect(ok).To(BeTrue(), "%v", err)
			Expect(found).To(HaveLen(1))
			Expect(found[0].Error()).To(ContainSubstring(message))
			Expect(found[0].Line).To(Equal(line))
			Expect(found[0].Path).To(Equal(path))
			Expect(found[0].Error()).To(ContainSubstring("bless a run again: rehearse bless RUN"))
		},
		Entry("nothing", func() string { return "" }, "", "", "the baseline is empty"),
		Entry("white space", func() string { return " \n" }, "", "", "the baseline is empty"),
		Entry("another file", func() string { return "name: x" }, "", "", "this is not a baseline"),
		Entry("a list", func() string { return "[]" }, "", "", "this is not a baseline"),
		Entry("another object", func() string { return `{"a": 1}` }, "", "", `it has no key "schema"`),
		Entry("another version", func() string { return edited("baseline/1", "baseline/2") }, `"schema"`, "schema", `unsupported schema "rehearse.baseline/2"; this program reads "rehearse.baseline/1"`),
		Entry("another version with other keys", func() string { return "{\n\"new\": [],\n\"schema\": \"rehearse.baseline/9\"}" }, `"schema"`, "schema", `"rehearse.baseline/9"`),
		Entry("a schema that is a number", func() string { return edited(`"rehearse.baseline/1"`, "1") }, `"schema"`, "schema", ""),
		Entry("the first half", func() string { s := edited("{", "{"); return s[:strings.Index(s, `"duration"`)+3] }, `"du`, "scenarios.hook/timed.measures", "the file ends in the middle"),
		Entry("text after the end", func() string { return edited("{", "{") + "{}" }, "{}", "", "invalid character"),
		Entry("an unfinished merge", func() string { return edited(`  "prices"`, "<<<<<<< HEAD\n  \"prices\"") }, "<<<<<<<", "", "unresolved merge conflict"),
		Entry("a value that is not a number", func() string { return edited(`"value":1.25`, `"value":NaN`) }, "NaN", `scenarios.loop/steady.measures.duration.value`, "invalid character"),
		Entry("a number that is too large", func() string { return edited(`"value":1.25`, `"value":1e999`) }, "1e999", `scenarios.loop/steady.measures.duration.value`, ""),
		Entry("a number as text", func() string { return edited(`"value":1.25`, `"value":"1.25"`) }, `"value":"1.25"`, `scenarios.loop/steady.measures.duration.value`, ""),
		Entry("a fraction of a trial", func() string { return edited(`"n":2,"value":1.25`, `"n":1.5,"value":1.25`) }, `"n":1.5`, "scenarios.loop/steady.measures.duration.n", ""),
		Entry("a list in place of an object", func() string { return edited(`"measures": {`, `"measures": [], "x": {`) }, `"measures": []`, `scenarios.hook/timed.measures`, "expected an object"),
		Entry("nothing in place of a scenario", func() string {
			return `{"schema": "rehearse.baseline/1", "rules": {"alpha":0.05,"margin":0,"cost":0,"tokens":0}, "scenarios": {"a": null}}`
		}, "null", "scenarios.a", "the scenario is null"),
		Entry("an unknown key", func() string { return edited(`"prices"`, `"price"`) }, `"price"`, "price", `unknown key "price"`),
		Entry("an unknown key of a measure", func() string { return edited(`"value":1.25`, `"vale":1.25`) }, `"vale"`, `scenarios.loop/steady.measures.duration.vale`, `unknown key "vale"`),
		Entry("a key in another case", func() string { return edited(`"prices"`, `"Prices"`) }, `"Prices"`, "Prices", `unknown key "Prices"`),
		Entry("a key twice", func() string {
			return edited(`"prices": "2026-11-20"`, `"prices": "2026-11-20", "prices": "2026-11-21"`)
		}, `"prices"`, "prices", `the key "prices" is repeated`),
		Entry("a repeated expectation", func() string { return edited(`"limits": {`, `"limits.x": "1", "limits": {"x": "2", `) }, `"limits.x"`, "scenarios.hook/timed.bar.limits", "is repeated"),
		Entry("text that is not UTF-8", func() string { return edited("2026-11-20", "2026\xff") }, "2026\xff", "prices", "UTF-8"),
		Entry("scenarios in another order", func() string { return edited(`"loop/flaky"`, `"zoop/flaky"`) }, `"loop/steady"`, "scenarios.loop/steady", "names are sorted"),

		Entry("an edited measure", func() string { return edited(`"value":1.25`, `"value":9`) }, `"loop/steady"`, `scenarios.loop/steady`, "was edited by hand"),
		Entry("an edited expectation", func() string { return edited(`"exactly 2"`, `"exactly 3"`) }, `"hook/timed"`, `scenarios.hook/timed`, "was edited by hand"),
		Entry("an edited verdict", func() string { return edited(`"verdict": "fail"`, `"verdict": "pass"`) }, `"loop/flaky"`, `scenarios.loop/flaky`, "was edited by hand"),
		Entry("a renamed scenario", func() string { return edited(`"loop/flaky"`, `"loop/flaki"`) }, `"loop/flaki"`, `scenarios.loop/flaki`, "was edited by hand"),
		Entry("an edited rule", func() string { return edited(`"cost":0.05`, `"cost":5`) }, `"sum"`, "sum", "the lines above were edited by hand"),
		Entry("an edited date", func() string { return edited("2026-11-20", "2026-11-21") }, `"sum"`, "sum", "the lines above were edited by hand"),
		Entry("an edited remark", func() string { return edited("to accept a change", "to cheat") }, `"sum"`, "sum", "the lines above were edited by hand"),
		Entry("a sum that is missing", func() string { return edited("  \"sum\": \"86c76b0f32d269e2\",\n", "") }, `"sum"`, "sum", "the lines above were edited by hand"),
		Entry("a removed scenario", func() string {
			text := edited("{", "{")
			from, to := strings.Index(text, `    "loop/flaky"`), strings.Index(text, `    "loop/steady"`)
			return text[:from] + text[to:]
		}, `"gates"`, "gates", "some were added or removed by hand"),

		Entry("a rule out of range", func() string { return resummed(func(b *compare.Baseline) { b.Rules.Alpha = 1 }) }, `"rules"`, "rules", "alpha must be between"),
		Entry("a negative margin", func() string { return resummed(func(b *compare.Baseline) { b.Rules.Tokens = -1 }) }, `"rules"`, "rules", "tokens must be between"),
		Entry("an unknown verdict", func() string { return resummed(func(b *compare.Baseline) { steady(b).Verdict = "fine" }) }, `"loop/steady"`, `scenarios.loop/steady`, `unknown verdict "fine"`),
		Entry("more trials than planned", func() string { return resummed(func(b *compare.Baseline) { steady(b).Trials.Pass = 3 }) }, `"loop/steady"`, `scenarios.loop/steady`, "impossible counts: 3 of 2 trials"),
		Entry("no trials", func() string {
			return resummed(func(b *compare.Baseline) { steady(b).Trials = compare.Trials{} })
		}, `"loop/steady"`, `scenarios.loop/steady`, "impossible counts: 0 of 0 trials"),
		Entry("more ends than trials", func() string {
			return resummed(func(b *compare.Baseline) { steady(b).Ends = make([]compare.End, 3) })
		}, `"loop/steady"`, `scenarios.loop/steady`, "3 ends of 2 trials"),
		Entry("unknown judgements", func() string { return resummed(func(b *compare.Baseline) { steady(b).Stops = "PX" }) }, `"loop/steady"`, `scenarios.loop/steady`, "not judgements"),
		Entry("more values than trials", func() string { return resummed(func(b *compare.Baseline) { steady(b).Measures[0].N = 3 }) }, `"loop/steady"`, `scenarios.loop/steady`, "measures.calls: n must be between 0 and 2, got 3"),
		Entry("a value of no trial", func() string { return resummed(func(b *compare.Baseline) { steady(b).Measures[0].N = 0 }) }, `"loop/steady"`, `scenarios.loop/steady`, "value must be given if n is not 0"),
		Entry("values of more trials", func() string {
			return resummed(func(b *compare.Baseline) { steady(b).Measures[0].Trials = make([]*float64, 3) })
		}, `"loop/steady"`, `scenarios.loop/steady`, "there are values of 3 trials; at most 2 are possible"),
		Entry("an interval with swapped ends", func() string {
			return resummed(func(b *compare.Baseline) { steady(b).Measures[0].Interval = &stat.Interval{Lo: 2, Hi: 1} })
		}, `"loop/steady"`, `scenarios.loop/steady`, "the interval from 2 to 1 is empty"),
	)

	It("rejects every truncated file", func() {
		text := strings.TrimSpace(string(compare.Encode(sample())))
		for i := range text {
			_, err := read(text[:i])
			Expect(err).To(HaveOccurred(), "%d bytes", i)
		}
	})

	It("rejects a file that is too large", func() {
		_, err := compare.ReadBaseline("b.json", io.MultiReader(strings.NewReader(`{"schema": "`), strings.NewReader(strings.Repeat("x", compare.MaxBytes))))
		Expect(err).To(MatchError(ContainSubstring("the file is larger than")))
	})

	It("reports a file that cannot be read", func() {
		_, err := compare.ReadBaseline("b.json", iotest.ErrReader(io.ErrClosedPipe))
		Expect(err).To(MatchError(io.ErrClosedPipe))
	})

	It("detects a manual edit of any significant line", func() {
		// Each digit of the file is changed in turn: none goes unnoticed.
		text := compare.Encode(sample())
		changed := 0
		for i := range text {
			if text[i] < '0' || text[i] > '9' {
				continue
			}
			other := bytes.Clone(text)
			other[i] = '0' + (text[i]-'0'+1)%10
			if back, err := read(string(other)); err == nil {
				Expect(compare.Encode(back)).To(Equal(text), "byte %d", i)
				Fail(fmt.Sprintf("the change of byte %d was not seen", i))
			}
			changed++
		}
		Expect(changed).To(BeNumerically(">", 500))
	})
})
