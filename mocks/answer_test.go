package mocks_test

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks"
)

var _ = Describe("an answer", Label("H-02"), func() {
	It("is a template over the request", func() {
		r := start(`replies: [{template: '{{.Model}}|{{.System}}|{{.User}}|{{.Turn}}|{{.Purpose}}|{{.Tags.block}}|{{len .Messages}}|{{.Attempt}}|{{json .User}}'}]`)
		o := r.post(context.Background(), chat(map[string]any{"metadata": map[string]any{"purpose": "p", "block": "b"}},
			message{"role": "system", "content": "s"}, user("u"), assistant("a"), user(`say "hi"`)))
		Expect(o.text()).To(Equal(`m|s|say "hi"|1|p|b|4|1|"say \"hi\""`))
	})

	It("splits texts into pieces that join to the same text", func() {
		r := start(`replies: [{template: '{{range split ";" (match "Works: (.*)" .User)}}<{{.}}>{{end}}{{match "none: (.*)" .User}}{{join "+" (split "," "a,b")}}'}]`)
		Expect(r.ask("Works: Dune;Alien").text()).To(Equal("<Dune><Alien>a+b"))
	})

	It("is an error where a template fails, which consumes nothing", func() {
		r := start(`replies: [{template: 'block {{.Tags.block}}'}]`)
		code, text := r.ask("x").problem()
		Expect(code).To(Equal("script_template"))
		Expect(text).To(And(ContainSubstring("replies[0].template"), ContainSubstring("block")))
		report := r.engine.Report()
		Expect(report.Unexpected).To(HaveLen(1))
		Expect(report.Unused).To(HaveLen(1))
	})

	DescribeTable("is limited where a template runs on",
		func(template string) {
			r := start(`replies: [{template: '` + template + `'}]`)
			code, _ := r.ask(strings.Repeat("x", 2000)).problem()
			Expect(code).To(Equal("script_template"))
			Expect(r.engine.Report().Unexpected).To(HaveLen(1))
		},
		Entry("in size", `{{range split "" .User}}`+strings.Repeat("0123456789", 60)+`{{end}}`),
		Entry("in loops that write nothing", `{{$l := split "" .User}}{{range $l}}{{range $l}}{{range $l}}{{end}}{{end}}{{end}}`),
		Entry("in loops over a number that the request gives", `{{range len .User}}{{end}}`),
	)

	It("is refused if its template loops over a number", func() {
		s, err := parse(`replies: [{template: '{{range 2000000000}}{{end}}'}]`)
		Expect(err).NotTo(HaveOccurred())
		_, err = mocks.Compile(s)
		Expect(err).To(MatchError(ContainSubstring("ranges over a number")))
	})

	It("counts tokens unless the line gives them", func() {
		r := start("{model: gpt-4.1-mini, replies: [{text: four, tool_calls: [{name: ffff, arguments: {}}]}, {text: x, usage: {input: 9, output: 1}}]}")
		r.post(context.Background(), chat(nil, message{"role": "system", "content": "12345678"}, user("1234")))
		r.ask("x")
		exchanges := r.engine.Report().Exchanges
		Expect(exchanges[0].Usage.Input).To(Equal(3))
		Expect(exchanges[0].Usage.Output).To(Equal(3))
		Expect(exchanges[1].Usage.Input).To(Equal(9))
	})

	It("takes its latency on the engine's clock, with jitter from the seed and scaled", func() {
		elapsed := func(seed uint64, scale float64) time.Duration {
			r := inProcess(compile("replies: [{text: a b c, latency: {first: 1s, per_token: 100ms, jitter: 0.5}}]"),
				mocks.EngineOptions{Seed: seed, Scale: scale, Count: func(_, text string) int { return len(strings.Fields(text)) }})
			Expect(r.ask("x").Status).To(Equal(200))
			return r.clock.Elapsed()
		}
		one := elapsed(1, 0)
		Expect(one).To(And(BeNumerically(">=", 650*time.Millisecond), BeNumerically("<=", 1950*time.Millisecond)))
		Expect(elapsed(1, 1)).To(Equal(one))
		Expect(elapsed(1, 2)).To(Equal(2 * one))
		Expect(elapsed(2, 1)).NotTo(Equal(one))
	})

	It("takes as long as a plain duration", func() {
		r := start("replies: [{text: a, latency: 4h}]")
		r.ask("x")
		Expect(r.clock.Elapsed()).To(Equal(4 * time.Hour))
	})

	It("keeps only the last exchanges, on request", func() {
		r := inProcess(compile("rules: [{when: {user: a}, text: a}]"), mocks.EngineOptions{Keep: 3})
		for range 5 {
			r.ask("a")
			r.ask("b")
		}
		report := r.engine.Report()
		Expect(report.Calls).To(Equal(10))
		Expect(report.Exchanges).To(HaveExactElements(HaveField("N", 8), HaveField("N", 9), HaveField("N", 10)))
		Expect(report.Unexpected).To(HaveLen(3))
	})
})

var _ = It("Another model than that of the script is named once, if it has a price", Label("H-02"), func() {
	other := func(called, answers string) bool { return called != "deployment" && called != answers }
	r := inProcess(compile("{model: gpt-4.1-mini, rules: [{text: hi}]}"), mocks.EngineOptions{OtherPrice: other})
	for _, model := range []string{"gpt-4.1-mini", "deployment", "gpt-4.1", "gpt-4.1"} {
		Expect(r.post(context.Background(), chat(map[string]any{"model": model}, user("x"))).Status).To(Equal(200))
	}
	Expect(r.engine.Report().Warnings).To(HaveExactElements(HavePrefix(`calls of the model "gpt-4.1" are answered by gpt-4.1-mini`)))
})
