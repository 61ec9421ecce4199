package scenarios_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/scenarios"
)

var _ = Describe("Scenarios of coding agents", func() {
	var set []scenarios.Scenario
	BeforeEach(func() {
		var found scenarios.Diagnostics
		set, found = scenarios.Load([]string{"coding-agents/*"}, scenarios.Options{})
		Expect(found).To(BeEmpty())
	})

	It("say what each call uses, as the requests hold paths and dates, which would be counted", func() {
		for _, sc := range set {
			for _, line := range sc.Backend.Replies {
				Expect(line.Usage).NotTo(BeNil(), sc.Name)
			}
		}
	})
	It("show the same of both agents", func() {
		of := map[string][]string{}
		for _, sc := range set {
			agent, shows, _ := strings.Cut(strings.TrimPrefix(sc.Name, "coding-agents/"), "-")
			Expect(agent).To(Equal(sc.Drive.Coding.Agent), sc.Name)
			of[agent] = append(of[agent], shows)
		}
		Expect(of["claude"]).To(HaveLen(15))
		Expect(of["codex"]).To(ContainElements(of["claude"]))
	})
})
