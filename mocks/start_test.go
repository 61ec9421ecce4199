package mocks_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/mocks"
)

// failures is a test that keeps why it fails.
type failures struct {
	printingT
	errors []string
	fatal  string
}

func (f *failures) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}

func (f *failures) Fatalf(format string, args ...any) { f.fatal = fmt.Sprintf(format, args...) }

var _ = Describe("Start", func() {
	var t *failures
	BeforeEach(func() { t = &failures{} })

	run := func(s mocks.Script, questions ...string) []string {
		backend := mocks.Start(t, s)
		var got []string
		for _, q := range questions {
			got = append(got, ask(http.DefaultClient, backend.URL, q))
		}
		t.end()
		return got
	}

	It("serves a script until the test ends, and leaves nothing behind", func() {
		before := gleak.Goroutines()
		backend := mocks.Start(t, mocks.Script{Replies: []mocks.Line{mocks.Say("a"), mocks.Say("")}})
		Expect(ask(http.DefaultClient, backend.URL, "1") + ask(http.DefaultClient, backend.URL, "2")).To(Equal("a"))
		Expect(backend.Report().Calls).To(Equal(2))
		t.end()
		Expect(t.errors).To(BeEmpty())
		_, err := http.Get(backend.URL)
		Expect(err).To(HaveOccurred())
		http.DefaultClient.CloseIdleConnections()
		Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before))
	})

	It("fails the test once, with all reasons", func() {
		run(mocks.Script{Rules: []mocks.Line{mocks.Say("a").IfUser("x"), mocks.Fail(mocks.Fault{Kind: "timeout"}).IfUser("y")}}, "z")
		Expect(t.errors).To(ConsistOf(And(
			ContainSubstring("unexpected: call 1, call 2: no rule"), ContainSubstring("unused: rules[0]"),
			ContainSubstring("fault without effect: rules[1]: timeout (fired 0 of 1)"))))
	})

	It("forgives what a lenient script forgives", func() {
		run(mocks.Script{Lenient: true, Rules: []mocks.Line{mocks.Say("a").IfUser("x")}}, "z")
		Expect(t.errors).To(BeEmpty())
	})

	It("ends the test at once if the script is not valid", func() {
		Expect(mocks.Start(t, mocks.Script{})).To(BeNil())
		Expect(t.fatal).To(ContainSubstring("needs replies"))
	})

	It("asks for tools", func() {
		call := mocks.CallTool("search", map[string]any{"q": "x"})
		Expect(run(mocks.Script{Replies: []mocks.Line{call}}, "1")).To(Equal([]string{""}))
		Expect(t.errors).To(BeEmpty())
	})
})

// TestStart is Start as docs/how-to/go-tests.md shows it.
func TestStart(t *testing.T) {
	backend := mocks.Start(t, mocks.Script{Replies: []mocks.Line{
		mocks.Fail(mocks.Fault{Kind: "status", Status: 429}),
		mocks.Say("At nine.").IfUser("open"),
	}})
	if got := ask(http.DefaultClient, backend.URL, "When do you open?"); !strings.Contains(got, "nine") {
		t.Errorf("the agent did not try again: %s", got)
	}
}
