package scenarios_test

import (
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// loadOwn loads as the commands do: names are also looked up in ./scenarios.
func loadOwn(patterns ...string) ([]scenarios.Scenario, scenarios.Diagnostics) {
	return scenarios.Load(patterns, scenarios.Options{Kinds: kinds.All().Formats(), CheckExpr: kinds.Language().Check, Folders: []string{scenarios.OwnFolder}})
}

// filesOf are the files of scenarios, in order.
func filesOf(set []scenarios.Scenario) []string {
	var files []string
	for _, sc := range set {
		files = append(files, sc.File)
	}
	return files
}

var _ = Describe("Load by name", func() {
	BeforeEach(func() {
		golden, err := os.ReadFile("loop/golden-marker.yaml")
		Expect(err).NotTo(HaveOccurred())
		folder(map[string]string{
			"scenarios/order.yaml":       named("order-status"),
			"scenarios/deep/refund.yaml": named("refund-policy"),
			"scenarios/shop.yaml":        named("shop/refund"),
			"scenarios/quoted.yml":       strings.Replace(named("x"), "name: x", `"name": 'quoted'`, 1),
			"scenarios/torn.yaml":        "name: torn\nabout: [",
			"scenarios/unnamed.yaml":     "tasks: []\n",
			"scenarios/clash.yaml":       named("loop/no-progress"),
			"scenarios/same.yaml":        string(golden),
			"elsewhere/far.yaml":         named("far-away"),
			"notes.txt":                  "not the scenario",
			"shop":                       "a file, not a folder",
			"quoted/notes.md":            "a folder with the name of a scenario",
		})
	})

	DescribeTable("selects",
		func(want []string, patterns ...string) {
			set, found := loadOwn(patterns...)
			Expect(found.Error()).To(BeEmpty())
			Expect(filesOf(set)).To(Equal(want))
		},
		Entry("an own name", []string{"scenarios/order.yaml"}, "order-status"),
		Entry("an own name in a folder below", []string{"scenarios/deep/refund.yaml"}, "refund-policy"),
		Entry("an own name with a slash", []string{"scenarios/shop.yaml"}, "shop/refund"),
		Entry("an own pattern", []string{"scenarios/order.yaml"}, "order*"),
		Entry("a pattern across own files", []string{"scenarios/order.yaml", "scenarios/deep/refund.yaml"}, "*-*"),
		Entry("a path with wildcards", []string{"scenarios/order.yaml"}, "scenarios/o*"),
		Entry("a path with wildcards that can only be a path", []string{"scenarios/quoted.yml"}, "./scenarios/q*"),
		Entry("own and shipped names together", []string{"shipped:loop/blocked-marker.yaml", "scenarios/order.yaml"}, "order-status", "loop/blocked-m*"),
		Entry("only once what a name and a path select", []string{"scenarios/order.yaml"}, "order-status", "./scenarios/order.yaml", "order*"),
		Entry("a name in a folder that is named, too", []string{"elsewhere/far.yaml"}, "elsewhere", "far-away"),
		Entry("only shipped ones with the prefix", []string{"shipped:loop/no-progress.yaml"}, "shipped:loop/no-progress"),
		Entry("an own one by its path", []string{"scenarios/clash.yaml"}, "scenarios/clash.yaml"),
		Entry("a copy of a shipped one once", []string{"shipped:loop/golden-marker.yaml"}, "loop/golden-marker"),
	)

	DescribeTable("refuses",
		func(pattern, want string) {
			_, found := loadOwn(pattern)
			Expect(found.Error()).To(Equal(want))
		},
		Entry("a name of an own and another shipped one", "loop/no-progress",
			`loop/no-progress: two scenarios have this name, scenarios/clash.yaml and shipped:loop/no-progress.yaml; `+
				`write scenarios/clash.yaml for the first, or shipped:loop/no-progress for the second`),
		Entry("an own name with an error", "order-staus",
			`order-staus: no such file or folder, and no scenario in scenarios or among the shipped ones has that name (did you mean "order-status"?)`),
		Entry("a shipped name with an error, with the prefix", "shipped:loop/no-progres",
			`shipped:loop/no-progres: no shipped scenario has that name (did you mean "shipped:loop/no-progress"?)`),
		Entry("an own name as a shipped one", "shipped:order-status", `shipped:order-status: no shipped scenario has that name`),
		Entry("a folder that hides a scenario", "quoted",
			`quoted: the folder has no scenario; names of scenario files end in .yaml; the scenario of that name is scenarios/quoted.yml`),
		Entry("a path that only looks like a name", "./order-status", `./order-status: cannot be read: no such file or directory`),
		Entry("an empty pattern", "", `(empty pattern): name a scenario, a file or a folder`),
	)

	It("shows what is wrong with the own file of that name", func() {
		_, found := loadOwn("torn")
		Expect(found).To(HaveLen(1))
		Expect(found[0].Error()).To(HavePrefix("scenarios/torn.yaml:3:"))
	})

	It("selects every own scenario without a slash by '*', and reports invalid ones", func() {
		set, found := loadOwn("*")
		Expect(found).To(HaveLen(1), "torn.yaml")
		Expect(filesOf(set)).To(Equal([]string{
			"scenarios/torn.yaml", "scenarios/order.yaml", "scenarios/quoted.yml", "scenarios/deep/refund.yaml",
		}))
	})

	It("lists the own names that there are", func() {
		Expect(scenarios.NamesIn("scenarios", "nowhere")).To(Equal([]string{
			"loop/golden-marker", "loop/no-progress", "order-status", "quoted", "refund-policy", "shop/refund", "torn",
		}))
	})
})
