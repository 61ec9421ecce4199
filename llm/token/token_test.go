package token_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/token"
)

var _ = Describe("Counter", Label("H-04"), func() {
	var c *token.Counter
	BeforeEach(func() { c = token.NewCounter(token.Options{}) })

	// The first four counts are the ones that OpenAI's cookbook prints.
	DescribeTable("counts as tiktoken does",
		func(model, text string, want int) {
			Expect(c.Count(model, text)).To(Equal(want))
			Expect(c.Count(model, text)).To(Equal(want), "the second time")
		},
		Entry("cookbook, cl100k_base", "gpt-4", "antidisestablishmentarianism", 6),
		Entry("cookbook, o200k_base", "gpt-4o", "antidisestablishmentarianism", 6),
		Entry("cookbook, cl100k_base", "gpt-4", "お誕生日おめでとう", 9),
		Entry("cookbook, o200k_base", "gpt-4o", "お誕生日おめでとう", 8),
		Entry("cookbook, the same length", "gpt-4o", "2 + 2 = 4", 7),
		Entry("nothing", "gpt-4o", "", 0),
		Entry("two words", "gpt-4.1-mini", "hello world", 2),
	)

	DescribeTable("says whether the count is exact",
		func(model string, exact bool) { Expect(token.Exact(model)).To(Equal(exact)) },
		Entry(nil, "gpt-4.1-mini", true),
		Entry(nil, "gpt-4.1-mini-2025-04-14", true),
		Entry(nil, "openai/gpt-4o", true),
		Entry(nil, "gpt-5", true),
		Entry(nil, "gpt-5-nano", true),
		Entry(nil, "o3", true),
		Entry(nil, "gpt-4", true),
		Entry(nil, "gpt-4-turbo", true),
		Entry(nil, "gpt-6-sol", false),
		Entry(nil, "gpt-5.5", false),
		Entry(nil, "claude-opus-5", false),
		Entry(nil, "", false),
	)

	// The cookbook's example: 129 tokens for gpt-3.5-turbo and gpt-4, 124 for
	// gpt-4o, which it compares with what the API reported.
	DescribeTable("counts a conversation as the API does",
		func(model string, want int) {
			system := func(name, text string) llm.Message {
				return llm.Message{Role: llm.System, Name: name, Content: text}
			}
			Expect(c.Chat(model, []llm.Message{
				system("", "You are a helpful, pattern-following assistant that translates corporate jargon into plain English."),
				system("example_user", "New synergies will help drive top-line growth."),
				system("example_assistant", "Things working well together will increase revenue."),
				system("example_user", "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage."),
				system("example_assistant", "Let's talk later when we're less busy about how to do better."),
				{Role: llm.User, Content: "This late pivot means we don't have time to boil the ocean for the client deliverable."},
			})).To(Equal(token.Result{Tokens: want, Exact: true}))
		},
		Entry(nil, "gpt-3.5-turbo", 129),
		Entry(nil, "gpt-4", 129),
		Entry(nil, "gpt-4o", 124),
		Entry(nil, "gpt-4o-mini", 124),
	)

	It("counts tool calls, and calls that inexact", func() {
		// 3 priming + 3 for the message + 1 for "assistant".
		plain := c.Chat("gpt-4o", []llm.Message{{Role: llm.Assistant}})
		Expect(plain).To(Equal(token.Result{Tokens: 7, Exact: true}))
		calls := []llm.ToolCall{{Name: "get_weather", Arguments: "{}"}}
		got := c.Chat("gpt-4o", []llm.Message{{Role: llm.Assistant, ToolCalls: calls}})
		Expect(got.Exact).To(BeFalse())
		Expect(got.Tokens).To(Equal(7 + c.Count("gpt-4o", "get_weather") + c.Count("gpt-4o", "{}")))
	})

	It("counts a conversation as its messages, in any order", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			texts := rapid.SliceOf(rapid.String()).Draw(rt, "texts")
			want, messages := token.Priming, []llm.Message(nil)
			for _, text := range texts {
				messages = append(messages, llm.Message{Role: llm.User, Content: text})
				want += token.PerMessage + 1 + c.Count("gpt-4o", text)
			}
			if got := c.Chat("gpt-4o", messages).Tokens; got != want {
				rt.Fatalf("%d, want %d", got, want)
			}
		})
	})

	It("remembers a text for each encoding", func() {
		Expect([]int{c.Count("gpt-4", "お誕生日おめでとう"), c.Count("gpt-4o", "お誕生日おめでとう")}).To(Equal([]int{9, 8}))
	})

	It("counts bytes that are not UTF-8 as replacement characters", func() {
		Expect(c.Count("gpt-4o", "a\xffb")).To(Equal(c.Count("gpt-4o", "a\uFFFDb")))
	})

	It("counts the same with little memory as with much", func() {
		small := token.NewCounter(token.Options{Memory: 64})
		for i := range 200 {
			text := strings.Repeat(fmt.Sprint(i%7, " "), i%50)
			Expect(small.Count("gpt-4o", text)).To(Equal(c.Count("gpt-4o", text)))
		}
	})

	It("keeps no more text than it is told to", func() {
		small := token.NewCounter(token.Options{Memory: 256 << 10})
		small.Count("gpt-4o", "load the vocabulary")
		before := heap()
		for i := range 300 {
			small.Count("gpt-4o", fmt.Sprint(i)+strings.Repeat(" ", 10_000)) // 3 MB in all
		}
		Expect(heap() - before).To(BeNumerically("<", 1<<20))
		runtime.KeepAlive(small)
	})

	It("can be used from many goroutines", func() {
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				defer GinkgoRecover()
				for j := range 50 {
					Expect(c.Count([]string{"gpt-4", "gpt-4o"}[i%2], strings.Repeat("a ", j))).To(BeNumerically("<=", j+1))
				}
			})
		}
		wg.Wait()
	})
})

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
