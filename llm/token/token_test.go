package token_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm/token"
)

var _ = Describe("Counter", Label("H-04"), func() {
	var c *token.Counter
	BeforeEach(func() { c = token.NewCounter(token.Options{}) })

	// The first four counts are the ones that OpenAI's cookbook prints.
	DescribeTable("counts as tiktoken does",
		func(model, text string, want int) {
			Expect(c.Count(model, text)).To(Equal(want))
			Expect(c.Count(model, text)).To(Equal(want), "from the cache")
		},
		Entry("cookbook, cl100k_base", "gpt-4", "antidisestablishmentarianism", 6),
		Entry("cookbook, o200k_base", "gpt-4o", "antidisestablishmentarianism", 6),
		Entry("cookbook, cl100k_base", "gpt-4", "お誕生日おめでとう", 9),
		Entry("cookbook, o200k_base", "gpt-4o", "お誕生日おめでとう", 8),
		Entry("cookbook, the same length", "gpt-4o", "2 + 2 = 4", 7),
		Entry("nothing", "gpt-4o", "", 0),
		Entry("two words", "gpt-4.1-mini", "hello world", 2),
	)

	// The text has 9 tokens in cl100k_base and 8 in o200k_base.
	DescribeTable("uses the vocabulary of the model",
		func(model string, want int) { Expect(c.Count(model, "お誕生日おめでとう")).To(Equal(want)) },
		Entry("GPT-4.1 mini", "gpt-4.1-mini", 8),
		Entry("a dated model", "gpt-4.1-mini-2025-04-14", 8),
		Entry("a model with its provider", "openai/gpt-4o", 8),
		Entry("GPT-5", "gpt-5", 8),
		Entry("a smaller GPT-5", "gpt-5-nano", 8),
		Entry("a reasoning model", "o3", 8),
		Entry("GPT-4", "gpt-4", 9),
		Entry("GPT-4 Turbo", "gpt-4-turbo", 9),
		Entry("GPT-3.5 with its provider", "openai/gpt-3.5-turbo", 9),
		Entry("a model of another provider", "claude-opus-5", 8),
		Entry("no model", "", 8),
	)

	It("caches a text for each encoding", func() {
		Expect([]int{c.Count("gpt-4", "お誕生日おめでとう"), c.Count("gpt-4o", "お誕生日おめでとう")}).To(Equal([]int{9, 8}))
	})

	It("counts bytes that are not UTF-8 as replacement characters", func() {
		Expect(c.Count("gpt-4o", "a\xffb")).To(Equal(c.Count("gpt-4o", "a\uFFFDb")))
	})

	It("counts the same with a small cache", func() {
		small := token.NewCounter(token.Options{Memory: 64})
		for i := range 200 {
			text := strings.Repeat(fmt.Sprint(i%7, " "), i%50)
			Expect(small.Count("gpt-4o", text)).To(Equal(c.Count("gpt-4o", text)))
		}
	})

	It("limits the text that it keeps", func() {
		small := token.NewCounter(token.Options{Memory: 256 << 10})
		small.Count("gpt-4o", "load the vocabulary")
		before := heap()
		for i := range 300 {
			small.Count("gpt-4o", fmt.Sprint(i)+strings.Repeat(" ", 10_000)) // 3 MB in all
		}
		Expect(heap() - before).To(BeNumerically("<", 1<<20))
		runtime.KeepAlive(small)
	})

	It("is safe for concurrent use", func() {
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
