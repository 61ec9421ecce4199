package reports_test

import (
	"regexp"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v4"
)

var _ = Describe("TAP", Label("H-05"), func() {
	It("numbers its points, plans them all, and has diagnostics in YAML, whatever a model writes", func() {
		r := hostile()
		r.Interrupted, r.NotRun = false, nil
		lines := strings.Split(strings.TrimSuffix(render(asTAP, r, options{}), "\n"), "\n")
		Expect(lines[0]).To(Equal("TAP version 14"))
		n, block := 0, ""
		for _, line := range lines[2:] {
			if strings.HasPrefix(line, "  ") {
				if block += line[2:] + "\n"; line == "  ..." {
					var diagnostic struct{ Findings []string }
					Expect(yaml.Unmarshal([]byte(strings.TrimSuffix(block, "...\n")), &diagnostic)).To(Succeed(), block)
					Expect(diagnostic.Findings).NotTo(BeEmpty())
					block = ""
				}
				continue
			}
			n++
			Expect(line).To(MatchRegexp(`^(ok|not ok) ` + strconv.Itoa(n) + ` - `))
			Expect(regexp.MustCompile(`[^\\]#`).FindAllString(strings.Replace(line, " # SKIP ", "", 1), -1)).To(BeEmpty(), line)
		}
		Expect(lines[1]).To(Equal("1.." + strconv.Itoa(n)))
	})
	It("bails out of an interrupted run, whose scenarios are planned", func() {
		text := render(asTAP, sample(), options{})
		Expect(text).To(HaveSuffix("\nBail out! interrupted\n"))
		Expect(text).To(HavePrefix("TAP version 14\n1..7\n"))
	})
})
