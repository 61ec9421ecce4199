package loop_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

func eur(amount float64) quantity.Money {
	return quantity.Money{Amount: amount, Currency: quantity.EUR}
}

// full has every option set, each to other than its default.
func full(n int) loop.Options {
	return loop.Options{
		Prompt: "p", System: "s", Backend: "b", Model: "m", Stream: new(true), Mode: loop.JSON, Marker: "M",
		BlockedMarker: "B", History: loop.Conversation, ContinuePrompt: "c", Contract: "C", Language: loop.French, MaxIterations: new(n),
		Timeout: within(time.Duration(n)), CallTimeout: within(time.Duration(n)), IdleTimeout: within(time.Duration(n)), Backoff: within(time.Duration(n)),
		WaitForLimits: new(true), MaxTurns: new(n), DenialLimit: new(n), FailureLimit: new(n), NoProgressLimit: new(n),
		AlternationLimit: new(n), NearIdenticalLimit: new(n), UnchangedLimit: new(n), RepeatedErrorLimit: new(n), ErrorLimit: new(n),
		StopGuard: "strict", ContinuationLimit: new(n), Checks: []string{"c"}, CheckTimeout: within(time.Duration(n)), CheckLimit: new(n),
		Budget:  &llm.Caps{Calls: n, Tokens: n, Cost: eur(float64(n))},
		Breaker: &loop.BreakerOptions{Failures: n, Cooldown: quantity.Duration(n), MaxOpens: n},
	}
}

func resolved(n int) loop.Settings {
	return loop.Settings{
		Prompt: "p", System: "s", Backend: "b", Model: "m", Stream: true, Mode: loop.JSON, Marker: "M",
		BlockedMarker: "B", History: loop.Conversation, ContinuePrompt: "c", Contract: "C", Language: loop.French, MaxIterations: n,
		Timeout: quantity.Duration(n), CallTimeout: quantity.Duration(n), IdleTimeout: quantity.Duration(n), Backoff: quantity.Duration(n),
		WaitForLimits: true, MaxTurns: n, DenialLimit: n, FailureLimit: n, NoProgressLimit: n,
		AlternationLimit: n, NearIdenticalLimit: n, UnchangedLimit: n, RepeatedErrorLimit: n, ErrorLimit: n,
		StopGuard: "strict", ContinuationLimit: n, Checks: []string{"c"}, CheckTimeout: quantity.Duration(n), CheckLimit: n,
		Budget:  llm.Caps{Calls: n, Tokens: n, Cost: eur(float64(n))},
		Breaker: &loop.BreakerOptions{Failures: n, Cooldown: quantity.Duration(n), MaxOpens: n},
	}
}

var _ = Describe("Resolve", Label("L-06"), func() {
	It("has the documented defaults", func() {
		d := loop.Defaults()
		Expect(d.ContinuePrompt).NotTo(BeEmpty())
		Expect(d.ContinuePrompt).To(HaveSuffix(d.Contract))
		Expect(d.Contract).To(ContainSubstring("write DONE on a line of its own"))
		d.ContinuePrompt, d.Contract = "", ""
		Expect(d).To(Equal(loop.Settings{
			Backend: "copilot", Mode: loop.Marker, Marker: "DONE", BlockedMarker: "BLOCKED:", MaxIterations: 10,
			MaxTurns: 500, DenialLimit: 10, FailureLimit: 25, NoProgressLimit: 3, UnchangedLimit: 5, ErrorLimit: 3,
			IdleTimeout: quantity.Duration(10 * time.Minute), Backoff: quantity.Duration(5 * time.Second),
			StopGuard: loop.GuardOff, ContinuationLimit: 3,
		}))
	})

	It("limits checks if there are any", func() {
		s, err := loop.Resolve(loop.Options{Prompt: "p", Checks: []string{"true"}})
		Expect(err).NotTo(HaveOccurred())
		Expect(s.CheckTimeout).To(Equal(quantity.Duration(10 * time.Minute)))
		Expect(s.CheckLimit).To(Equal(5))
	})

	It("takes every option, else every value of the file", func() {
		Expect(loop.Resolve(full(7), loop.Options{})).To(Equal(resolved(7)))
		Expect(loop.Resolve(loop.Options{}, full(7))).To(Equal(resolved(7)))
		Expect(loop.Resolve(full(7), full(9))).To(Equal(resolved(7)))
	})

	It("lets every other option be the default where only one is given", func() {
		options, count := reflect.ValueOf(full(7)), 0
		for i := range options.NumField() {
			name := options.Type().Field(i).Name
			var only loop.Options
			reflect.ValueOf(&only).Elem().Field(i).Set(options.Field(i))
			only.Prompt = "p"
			got, err := loop.Resolve(only, loop.Options{})
			Expect(err).NotTo(HaveOccurred(), name)
			want := reflect.ValueOf(resolved(7)).FieldByName(name).Interface()
			Expect(reflect.ValueOf(got).FieldByName(name).Interface()).To(Equal(want), name)
			count++
		}
		Expect(count).To(Equal(reflect.TypeFor[loop.Settings]().NumField()), "each option has a setting")
	})

	It("treats an explicit zero as a value", func() {
		s, err := loop.Resolve(loop.Options{Prompt: "p", NoProgressLimit: new(0), Timeout: within(0), ErrorLimit: new(0), Stream: new(false)}, full(7))
		Expect(err).NotTo(HaveOccurred())
		Expect([]any{s.NoProgressLimit, s.Timeout, s.ErrorLimit, s.Stream}).To(Equal([]any{0, quantity.Duration(0), 0, false}))
	})

	It("merges budget and breaker cap by cap", func() {
		s, err := loop.Resolve(
			loop.Options{Prompt: "p", Budget: &llm.Caps{Calls: 3}, Breaker: &loop.BreakerOptions{MaxOpens: 1}},
			loop.Options{Budget: &llm.Caps{Calls: 9, Cost: eur(1)}, Breaker: &loop.BreakerOptions{Failures: 2, Cooldown: 5}})
		Expect(err).NotTo(HaveOccurred())
		Expect(s.Budget).To(Equal(llm.Caps{Calls: 3, Cost: eur(1)}))
		Expect(*s.Breaker).To(Equal(loop.BreakerOptions{Failures: 2, Cooldown: 5, MaxOpens: 1}))
	})

	DescribeTable("leaves failed calls to the guard that was asked for",
		func(o loop.Options, limit int) {
			o.Prompt = "p"
			s, err := loop.Resolve(o, loop.Options{})
			Expect(err).NotTo(HaveOccurred())
			Expect(s.ErrorLimit).To(Equal(limit))
		},
		Entry("none", loop.Options{}, 3),
		Entry("breaker", loop.Options{Breaker: &loop.BreakerOptions{Failures: 1, Cooldown: 1}}, 0),
		Entry("repeated errors", loop.Options{RepeatedErrorLimit: new(2)}, 0),
		Entry("given itself", loop.Options{RepeatedErrorLimit: new(2), ErrorLimit: new(5)}, 5),
	)

	It("asks for a JSON object in json mode", func() {
		s, err := loop.Resolve(loop.Options{Prompt: "p", Mode: loop.JSON}, loop.Options{})
		Expect(err).NotTo(HaveOccurred())
		Expect(s.ContinuePrompt).To(ContainSubstring(`"status"`))
	})

	It("does not change its arguments", func() {
		option, file := full(7), full(9)
		s, err := loop.Resolve(option, file)
		Expect(err).NotTo(HaveOccurred())
		s.Breaker.Failures = 99
		Expect(option).To(Equal(full(7)))
		Expect(file).To(Equal(full(9)))
	})

	DescribeTable("returns the field, the value and the remedy of an invalid field",
		func(o loop.Options, field, message string) {
			if o.Prompt == "" {
				o.Prompt = "p"
			}
			_, err := loop.Resolve(o, loop.Options{})
			list, ok := errors.AsType[loop.FieldErrors](err)
			Expect(ok).To(BeTrue(), "%v", err)
			Expect(list).To(HaveLen(1))
			Expect(list[0].Field).To(Equal(field))
			Expect(list[0].Message).To(ContainSubstring(message))
			Expect(err).To(MatchError(field + ": " + list[0].Message))
		},
		func(_ loop.Options, field, message string) string { return field + ": " + message },
		Entry("blank prompt", loop.Options{Prompt: " \n"}, "prompt", "is empty"),
		Entry("unknown mode", loop.Options{Mode: "jsno"}, "mode", `"jsno" is not a completion mode; use "marker", "json" or "answer"`),
		Entry("unknown language", loop.Options{Language: "de"}, "language", `"de" is not a language of the instructions; use "en" or "fr"`),
		Entry("unknown policy", loop.Options{StopGuard: "lax"}, "stop_guard", `"lax" is not a policy of the stop guard; use "off" or one of ["balanced" "strict" "careful"]`),
		Entry("unknown history", loop.Options{History: "none"}, "history", `"none"`),
		Entry("marker on two lines", loop.Options{Marker: "A\nB"}, "marker", "one line"),
		Entry("blank marker", loop.Options{Marker: " "}, "marker", "can never be found"),
		Entry("marker that opens a fence", loop.Options{Marker: "```done"}, "marker", "code block"),
		Entry("marker that begins with the blocked marker", loop.Options{Marker: "STOP: ok", BlockedMarker: "STOP:"}, "marker", "blocked_marker"),
		Entry("blocked marker with space", loop.Options{BlockedMarker: "B "}, "blocked_marker", "without space"),
		Entry("blocked marker that opens a fence", loop.Options{BlockedMarker: "~~~"}, "blocked_marker", "code block"),
		Entry("no iterations", loop.Options{MaxIterations: new(0)}, "max_iterations", "0 is not allowed; use 1 or more"),
		Entry("negative no_progress_limit", loop.Options{NoProgressLimit: new(-1)}, "no_progress_limit", "-1 is not allowed; use 0 or more"),
		Entry("negative alternation_limit", loop.Options{AlternationLimit: new(-1)}, "alternation_limit", "-1"),
		Entry("alternation_limit of 1", loop.Options{AlternationLimit: new(1)}, "alternation_limit", "use 2 or more, or 0"),
		Entry("negative near_identical_limit", loop.Options{NearIdenticalLimit: new(-1)}, "near_identical_limit", "-1"),
		Entry("negative repeated_error_limit", loop.Options{RepeatedErrorLimit: new(-1)}, "repeated_error_limit", "-1"),
		Entry("negative error_limit", loop.Options{ErrorLimit: new(-1)}, "error_limit", "-1"),
		Entry("negative continuation_limit", loop.Options{ContinuationLimit: new(-1)}, "continuation_limit", "-1"),
		Entry("negative check_limit", loop.Options{CheckLimit: new(-1)}, "check_limit", "-1"),
		Entry("negative idle_timeout", loop.Options{IdleTimeout: within(-1)}, "idle_timeout", "negative"),
		Entry("negative backoff", loop.Options{Backoff: within(-1)}, "backoff", "negative"),
		Entry("negative check_timeout", loop.Options{CheckTimeout: within(-1)}, "check_timeout", "negative"),
		Entry("blank check", loop.Options{Checks: []string{"true", " "}}, "checks[1]", `" " is not a command`),
		Entry("negative max_turns", loop.Options{MaxTurns: new(-1)}, "max_turns", "-1"),
		Entry("negative denial_limit", loop.Options{DenialLimit: new(-1)}, "denial_limit", "-1"),
		Entry("negative failure_limit", loop.Options{FailureLimit: new(-1)}, "failure_limit", "-1"),
		Entry("negative timeout", loop.Options{Timeout: within(-1)}, "timeout", "negative"),
		Entry("negative call_timeout", loop.Options{CallTimeout: within(-1)}, "call_timeout", "negative"),
		Entry("negative cap on calls", loop.Options{Budget: &llm.Caps{Calls: -1}}, "budget.calls", "-1"),
		Entry("negative cap on tokens", loop.Options{Budget: &llm.Caps{Tokens: -1}}, "budget.tokens", "-1"),
		Entry("cap of 0 EUR", loop.Options{Budget: &llm.Caps{Cost: eur(0)}}, "budget.cost", "0 EUR is not allowed"),
		Entry("cap that is not a number", loop.Options{Budget: &llm.Caps{Cost: eur(math.NaN())}}, "budget.cost", "NaN"),
		Entry("unknown currency", loop.Options{Budget: &llm.Caps{Cost: quantity.Money{Amount: 1, Currency: "GBP"}}}, "budget.cost", "unknown currency"),
		Entry("breaker without failures", loop.Options{Breaker: &loop.BreakerOptions{Cooldown: 1}}, "breaker.failures", "use 1 or more"),
		Entry("breaker without cooldown", loop.Options{Breaker: &loop.BreakerOptions{Failures: 1}}, "breaker.cooldown", "more than 0s"),
		Entry("negative max_opens", loop.Options{Breaker: &loop.BreakerOptions{Failures: 1, Cooldown: 1, MaxOpens: -1}}, "breaker.max_opens", "-1"),
	)

	It("reports everything at once", func() {
		_, err := loop.Resolve(loop.Options{Mode: "x", MaxIterations: new(0), Breaker: &loop.BreakerOptions{}}, loop.Options{})
		var fields []string
		list, _ := errors.AsType[loop.FieldErrors](err)
		for _, e := range list {
			fields = append(fields, e.Field)
		}
		Expect(fields).To(Equal([]string{"prompt", "mode", "max_iterations", "breaker.failures", "breaker.cooldown"}))
		Expect(strings.Count(err.Error(), "\n")).To(Equal(4))
	})

	It("survives a round trip through JSON, with durations and money as text", func() {
		text := jsonOf(resolved(7))
		Expect(text).To(ContainSubstring(`"timeout":"7ns"`))
		Expect(text).To(ContainSubstring(`"cost":"7 EUR"`))
		var back loop.Settings
		Expect(json.Unmarshal([]byte(text), &back)).To(Succeed())
		Expect(back).To(Equal(resolved(7)))
	})
})
