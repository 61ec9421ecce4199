package mocks_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// neutral is a protocol whose request is decoded already, so that only the
// engine is inspected.
type neutral struct{ request llm.Request }

func (neutral) Protocol() string { return "neutral" }

func (neutral) Dialect() wire.Dialect { return wire.Dialect{} }

func (n neutral) Decode([]byte) (wire.Call, *wire.APIError) {
	return wire.Call{Request: n.request}, nil
}

func (neutral) Encode(_ wire.Call, c wire.Completion) []wire.Frame {
	return []wire.Frame{{Status: 200, Data: []byte(c.Text)}}
}

func (neutral) EncodeError(e *wire.APIError) []wire.Frame {
	return []wire.Frame{{Status: e.Status, Data: []byte(e.Message)}}
}

// answerOf plays one request and returns the answer's text, or "" for an error.
func answerOf(e *mocks.Engine, request llm.Request) string {
	x := e.Begin(context.Background(), neutral{request}, nil, nil)
	defer x.End()
	f := x.Frames()[0]
	if x.Send(0, handOver) != nil || f.Status != 200 {
		return ""
	}
	return string(f.Data)
}

// handOver sends a frame to nobody.
func handOver() error { return nil }

// ruleLike draws a rule over small alphabets, so that rules overlap.
func ruleLike(t *rapid.T, i int) mocks.Line {
	text := fmt.Sprint(i)
	l := mocks.Line{Answer: mocks.Answer{Text: mocks.Text(text)}, When: &mocks.When{}}
	word := rapid.StringMatching(`[abc]{1,4}`)
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0, 1, 2:
		l.When.User = &mocks.Match{Contains: word.Draw(t, "contains")}
	case 3:
		l.When.User = &mocks.Match{Equals: word.Draw(t, "equals")}
	case 4:
		l.When.User = &mocks.Match{Matches: "^" + word.Draw(t, "matches")}
	}
	if rapid.Bool().Draw(t, "purposeful") {
		l.When.Purpose = rapid.SampledFrom([]string{"p", "q"}).Draw(t, "purpose")
	}
	if rapid.Bool().Draw(t, "modelled") {
		l.When.Model = rapid.SampledFrom([]string{"m", "n"}).Draw(t, "model")
	}
	return l
}

// firstMatch returns the text of the first rule whose conditions all match.
func firstMatch(rules []mocks.Line, r llm.Request) string {
	text := r.Messages[len(r.Messages)-1].Content
	for _, l := range rules {
		w := l.When
		fits := w.Purpose == "" || w.Purpose == r.Purpose
		fits = fits && (w.Model == "" || w.Model == r.Model)
		if u := w.User; u != nil {
			fits = fits && strings.Contains(text, u.Contains) && (u.Equals == "" || u.Equals == text)
			fits = fits && regexp.MustCompile(u.Matches).MatchString(text)
		}
		if fits {
			return l.Text.String()
		}
	}
	return ""
}

var _ = Describe("the rules of a script", Label("H-02"), func() {
	It("answer by the first that matches", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			var script mocks.Script
			for i := range rapid.IntRange(1, 150).Draw(t, "rules") {
				script.Rules = append(script.Rules, ruleLike(t, i))
			}
			program, err := mocks.Compile(script)
			if err != nil {
				t.Fatal(err)
			}
			e := mocks.NewEngine(program, mocks.EngineOptions{})
			for range 5 {
				request := llm.Request{
					Model:   rapid.SampledFrom([]string{"m", "n", "o"}).Draw(t, "model"),
					Purpose: rapid.SampledFrom([]string{"", "p", "q"}).Draw(t, "purpose"),
					Messages: []llm.Message{{
						Role: llm.User, Content: rapid.StringMatching(`[abcd]{0,8}`).Draw(t, "text"),
					}},
				}
				if got, want := answerOf(e, request), firstMatch(script.Rules, request); got != want {
					t.Fatalf("got rule %q, want %q", got, want)
				}
			}
		})
	})

	It("answer concurrent requests, each by its own rule", func() {
		var script mocks.Script
		for i := range 200 {
			text := fmt.Sprintf("<%d>", i)
			script.Rules = append(script.Rules, mocks.Line{Answer: mocks.Answer{Text: mocks.Text(text)}, When: &mocks.When{User: &mocks.Match{Contains: text}}})
		}
		program, err := mocks.Compile(script)
		Expect(err).NotTo(HaveOccurred())
		e := mocks.NewEngine(program, mocks.EngineOptions{})
		done := make(chan string)
		for i := range 200 {
			go func() {
				text := fmt.Sprintf("<%d>", i)
				done <- strings.TrimPrefix(answerOf(e, llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "a " + text + " b"}}}), text)
			}()
		}
		for range 200 {
			Expect(<-done).To(BeEmpty())
		}
	})
})

// BenchmarkMatch measures calls that match the last of n rules.
func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{10, 1_000, 10_000} {
		for kind, match := range map[string]func(string) *mocks.Match{
			"contains": func(s string) *mocks.Match { return &mocks.Match{Contains: s} },
			"equals":   func(s string) *mocks.Match { return &mocks.Match{Equals: s} },
		} {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
				var script mocks.Script
				text := "ok"
				for i := range n {
					script.Rules = append(script.Rules, mocks.Line{
						Answer: mocks.Answer{Text: mocks.Text(text)}, When: &mocks.When{User: match(fmt.Sprintf("fix the failing test of order %d.", i))},
					})
				}
				program, err := mocks.Compile(script)
				if err != nil {
					b.Fatal(err)
				}
				e := mocks.NewEngine(program, mocks.EngineOptions{Keep: 16})
				request := llm.Request{Messages: []llm.Message{{Role: llm.User, Content: fmt.Sprintf("fix the failing test of order %d.", n-1)}}}
				b.ReportAllocs()
				for b.Loop() {
					if answerOf(e, request) != "ok" {
						b.Fatal("no rule answered")
					}
				}
			})
		}
	}
}

// BenchmarkUnexpected measures the explanation of an unexpected call, which compares it
// with every rule.
func BenchmarkUnexpected(b *testing.B) {
	var script mocks.Script
	text := "ok"
	for i := range 10_000 {
		script.Rules = append(script.Rules, mocks.Line{
			Answer: mocks.Answer{Text: mocks.Text(text)}, When: &mocks.When{User: &mocks.Match{Contains: fmt.Sprintf("order %d.", i)}},
		})
	}
	program, err := mocks.Compile(script)
	if err != nil {
		b.Fatal(err)
	}
	e := mocks.NewEngine(program, mocks.EngineOptions{Keep: 16})
	for b.Loop() {
		if answerOf(e, llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "weather"}}}) != "" {
			b.Fatal("an answer")
		}
	}
}
