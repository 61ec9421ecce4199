package sanitize_test

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// stackTrace returns the standard error of a program that failed. The files are those that Python 3.11,
// Node 20 and Go 1.26 wrote, with other folders.
func stackTrace(language string) string {
	text, err := os.ReadFile(filepath.Join("testdata", language+".txt"))
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}

var _ = Describe("An excerpt", func() {
	DescribeTable("of a stack trace has the errors and the frames of the user's program",
		func(language string, decisive ...string) {
			got := sanitize.Lines(stackTrace(language), 300)
			Expect(len(got)).To(BeNumerically("<=", 20))
			Expect(got).To(ContainElements(decisive))
			golden.Expect("excerpt/"+language+".txt", []byte(strings.Join(got, "\n")+"\n"))
		},
		Entry("Python: three chained exceptions through the standard library", "python",
			"ConnectionRefusedError: [Errno 111] Connection refused",
			"urllib.error.URLError: <urlopen error [Errno 111] Connection refused>",
			"ModelError: the model did not answer: What is the capital of France?",
			`  File "/home/ada/agent/deep.py", line 5, in complete`,
			`  File "/home/ada/agent/deep.py", line 8, in complete`,
			`    raise ModelError("the model did not answer: " + q) from e`),
		Entry("Node: an error with two causes, one of which has a cause", "node",
			"Error: parse the answer of the model",
			"    at answer (file:///home/ada/agent/deep.mjs:11:42)",
			`      SyntaxError: Unexpected token 'P', "{"answer": Paris}" is not valid JSON`,
			"      Error: load the prompt system.txt",
			"        [cause]: Error: ENOENT: no such file or directory, open '/nowhere/system.txt'"),
		Entry("Go: a panic, with all goroutines", "go",
			"panic: runtime error: invalid memory address or nil pointer dereference",
			"goroutine 1 [running]:", "main.describe(...)", "  /home/ada/agent/main.go:5", "main.main()"),
	)

	It("of an excerpt counts all lines that are left out", func() {
		first := sanitize.Lines(stackTrace("python"), 300)
		again := sanitize.Excerpt(first, 9)
		Expect(len(again)).To(BeNumerically("<=", 9))
		Expect(again).To(ContainElements("ConnectionRefusedError: [Errno 111] Connection refused", last(first)))
		Expect(strings.Count(strings.Join(again, "\n"), "left out here …\n… ")).To(BeZero())
	})

	It("has the last lines of other text, and no more than demanded", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			lines := rapid.SliceOf(rapid.SampledFrom([]string{
				"a", "ValueError: x", `  File "/home/a.py", line 1, in f`, "    at f (/home/a.js:1:2)", "\t/home/a.go:1 +0x1", "… 3 lines are left out here …",
			})).Draw(t, "lines")
			most := rapid.IntRange(3, 12).Draw(t, "most")
			got := sanitize.Excerpt(lines, most)
			if len(got) > most && len(lines) > most {
				t.Fatalf("%d lines of %q: %q", len(got), lines, got)
			}
			if len(lines) <= most && len(got) != len(lines) {
				t.Fatalf("%q became %q", lines, got)
			}
		})
		text := strings.Split("starting\n"+strings.Repeat("log\n", 40)+"could not do it", "\n")
		got := sanitize.Excerpt(text, 8)
		Expect(got).To(HaveLen(8))
		Expect(got[0]).To(Equal("starting"))
		Expect(last(got)).To(Equal("could not do it"))
	})
})

func last(lines []string) string { return lines[len(lines)-1] }
