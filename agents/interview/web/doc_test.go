package web_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/web"
	"github.com/rehearse-dev/rehearse/llm"
)

// Authors of clients rely on this document.
var _ = Describe("docs/interview-http.md", func() {
	var text string
	BeforeEach(func() {
		data, err := os.ReadFile("../../../docs/interview-http.md")
		Expect(err).NotTo(HaveOccurred())
		text = string(data)
	})

	It("documents exactly the codes of the server", func() {
		var codes []string
		for _, c := range interview.Codes() {
			codes = append(codes, string(c))
		}
		_, table, found := strings.Cut(text, "| status | codes |")
		Expect(found).To(BeTrue())
		table, _, _ = strings.Cut(table, "\n## ")
		var documented []string
		for _, m := range regexp.MustCompile("`([a-z][a-z0-9]*(?:_[a-z0-9]+)*)`").FindAllStringSubmatch(table, -1) {
			documented = append(documented, m[1])
		}
		Expect(documented).To(ConsistOf(append(codes, web.Codes()...)))
	})

	It("documents exactly the metrics of the server", func() {
		h := newHouse("lea")
		v := h.until(h.begin().View, at(session.Block1, 0))
		h.model.failing(&llm.Error{Kind: llm.Unavailable})
		h.until(v, func(v view) bool { return v.QuestionIndex == 2 })
		var served []string
		for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+)`).FindAllStringSubmatch(h.get("/metrics", token).Body.String(), -1) {
			if !strings.HasPrefix(m[1], "go_") && !strings.HasPrefix(m[1], "process_") {
				served = append(served, m[1])
			}
		}
		Expect(len(served)).To(BeNumerically(">", 10))
		for _, name := range served {
			Expect(text).To(ContainSubstring("`"+name), name)
		}
		source, err := os.ReadFile("metrics.go")
		Expect(err).NotTo(HaveOccurred())
		for _, m := range regexp.MustCompile("`(?:interview_)?([a-z_]+)(?:\\{[a-z,]+\\})?`").FindAllStringSubmatch(section(text, "Metrics, spans and logs"), -1) {
			if slices.Contains([]string{"X_Request_Id"}, m[1]) || !strings.Contains(m[0], "interview_") && !strings.Contains(m[0], "http_") {
				continue
			}
			Expect(string(source)).To(ContainSubstring(m[1]), "documented but not served: %s", m[0])
		}
	})

	It("documents existing routes", func() {
		h := newHouse("lea")
		for _, m := range regexp.MustCompile("(?m)`(GET|POST) (/[^`?]*)").FindAllStringSubmatch(text, -1) {
			path := strings.ReplaceAll(m[2], "{session}", "nobody")
			w := h.get(path, token)
			if m[1] == "POST" {
				w = h.form(path)
			}
			Expect(w.Body.String()).NotTo(Or(ContainSubstring("not_found"), ContainSubstring("method_not_allowed")), m[0])
		}
	})
})

// section returns the text under a heading.
func section(text, heading string) string {
	GinkgoHelper()
	_, rest, found := strings.Cut(text, "## "+heading)
	Expect(found).To(BeTrue(), heading)
	rest, _, _ = strings.Cut(rest, "\n## ")
	return rest
}

var _ = It("Codes lists every code in the source", func() {
	files, err := filepath.Glob("*.go")
	Expect(err).NotTo(HaveOccurred())
	codes := map[string]bool{"internal": true}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		for _, m := range regexp.MustCompile(`newProblem\(http\.Status\w+, "([a-z0-9_]+)"`).FindAllStringSubmatch(string(source), -1) {
			codes[m[1]] = true
		}
	}
	delete(codes, string(interview.CodeInvalid))
	Expect(web.Codes()).To(Equal(slices.Sorted(maps.Keys(codes))))
})
