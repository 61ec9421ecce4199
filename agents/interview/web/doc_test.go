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
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/web"
	"github.com/rehearse-dev/rehearse/llm"
)

// Authors of clients rely on this document.
var _ = Describe("docs/reference/interview-http.md", func() {
	var text string
	BeforeEach(func() {
		data, err := os.ReadFile("../../../docs/reference/interview-http.md")
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
		var source []byte
		for _, file := range []string{"metrics.go", "sessiongauges.go"} {
			text, err := os.ReadFile(file)
			Expect(err).NotTo(HaveOccurred())
			source = append(source, text...)
		}
		for _, m := range regexp.MustCompile("`(?:interview_)?([a-z_]+)(?:\\{[a-z,]+\\})?`").FindAllStringSubmatch(section(text, "Metrics, spans and logs"), -1) {
			if slices.Contains([]string{"X_Request_Id"}, m[1]) || !strings.Contains(m[0], "interview_") && !strings.Contains(m[0], "http_") {
				continue
			}
			Expect(string(source)).To(ContainSubstring(m[1]), "documented but not served: %s", m[0])
		}
	})

	It("has rules for alerts that use served metrics with their labels and values", func() {
		h := newHouse("lea")
		h.until(h.begin().View, at(session.Block1, 0))
		labels := servedLabels(h.get("/metrics", token).Body.String())
		// Counters without a series yet.
		labels["interview_unpriced_calls_total"] = []string{"purpose"}

		_, block, found := strings.Cut(section(text, "Metrics, spans and logs"), "```yaml\n")
		Expect(found).To(BeTrue())
		block, _, _ = strings.Cut(block, "```")
		decoder := yaml.NewDecoder(strings.NewReader(block))
		decoder.KnownFields(true)
		var file struct {
			Groups []struct {
				Name  string
				Rules []alertRule
			}
		}
		Expect(decoder.Decode(&file)).To(Succeed())
		Expect(file.Groups).To(HaveLen(1))
		Expect(len(file.Groups[0].Rules)).To(BeNumerically(">", 3))
		for _, rule := range file.Groups[0].Rules {
			Expect(rule.problems(labels)).To(BeEmpty(), rule.Alert)
		}
		for _, wrong := range []alertRule{
			{Alert: "A", Expr: "interview_stuck > 0"},
			{Alert: "A", Expr: "sum(interview_sessions"},
			{Alert: "A", Expr: `interview_sessions{state="x"}`},
			{Alert: "A", Expr: "interview_store_up", For: "5 minutes"},
			{Alert: "a b", Expr: "interview_store_up"},
			{Alert: "A", Expr: "increase(interview_cost_total[x])"},
			{Alert: "A", Expr: `interview_sessions{status="stucked"}`},
		} {
			Expect(wrong.problems(labels)).NotTo(BeEmpty(), wrong.Expr)
		}
	})

	It("documents existing routes", func() {
		h := newHouse("lea")
		for _, m := range regexp.MustCompile("(?m)`(GET|POST) (/[^`?]*)").FindAllStringSubmatch(text, -1) {
			path := strings.NewReplacer("{session}", "nobody", "{job}", "sales").Replace(m[2])
			w := h.get(path, token)
			if m[1] == "POST" {
				w = h.form(path)
			}
			Expect(w.Body.String()).NotTo(Or(ContainSubstring("not_found"), ContainSubstring("method_not_allowed")), m[0])
		}
	})
})

// alertRule is a rule of Prometheus.
type alertRule struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

// The parts of PromQL that the rules of the document use.
var (
	promWords  = []string{"sum", "max", "min", "by", "rate", "increase", "absent", "or"}
	promPart   = regexp.MustCompile(`"[^"]*"|[a-zA-Z_][a-zA-Z0-9_]*|\[[^\]]*\]`)
	promRange  = regexp.MustCompile(`^\[[0-9]+[smhdw]\]$`)
	promMatch  = regexp.MustCompile(`([a-z_]+)(?:=~|!=|=)"([^"]*)"`)
	promSelect = regexp.MustCompile(`([a-z_]+)\{([^}]*)\}`)
)

// problems checks a rule against the served metrics and their labels.
func (r alertRule) problems(labels map[string][]string) (found []string) {
	if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`).MatchString(r.Alert) {
		found = append(found, "name")
	}
	if r.For != "" && !regexp.MustCompile(`^[0-9]+[smhdw]$`).MatchString(r.For) {
		found = append(found, "for: "+r.For)
	}
	if strings.Count(r.Expr, "(") != strings.Count(r.Expr, ")") || r.Expr == "" {
		found = append(found, "brackets: "+r.Expr)
	}
	values := []string{"EUR", "broken", "lost"}
	for _, status := range session.Statuses() {
		values = append(values, string(status))
	}
	for _, m := range promSelect.FindAllStringSubmatch(r.Expr, -1) {
		for _, match := range promMatch.FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(labels[m[1]], match[1]) {
				found = append(found, m[1]+" has no label "+match[1])
			}
			for value := range strings.SplitSeq(match[2], "|") {
				if !slices.Contains(values, value) {
					found = append(found, "value "+value)
				}
			}
		}
	}
	for _, part := range promPart.FindAllString(promSelect.ReplaceAllString(r.Expr, "$1"), -1) {
		_, metric := labels[part]
		switch {
		case metric, slices.Contains(promWords, part), part == "status", promRange.MatchString(part):
		default:
			found = append(found, "unknown: "+part)
		}
	}
	return found
}

// servedLabels returns the labels of each metric in a scrape.
func servedLabels(scrape string) map[string][]string {
	labels := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z_]+)(?:\{(.*)\})? `).FindAllStringSubmatch(scrape, -1) {
		names := labels[m[1]]
		for _, l := range regexp.MustCompile(`([a-z_]+)="`).FindAllStringSubmatch(m[2], -1) {
			names = append(names, l[1])
		}
		labels[m[1]] = names
	}
	return labels
}

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
