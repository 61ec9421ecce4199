package scenarios_test

import (
	"os"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	loopkind "github.com/rehearse-dev/rehearse/agents/loop/kind"
	"github.com/rehearse-dev/rehearse/agents/persist"
	supervise "github.com/rehearse-dev/rehearse/agents/persist/kind"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/stop/hook"
	hookkind "github.com/rehearse-dev/rehearse/agents/stop/kind"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// agentOf names what a scenario drives; "app" is any agent of somebody else.
func agentOf(sc scenarios.Scenario) string {
	for _, k := range kinds.All() {
		if k.Name == sc.Drive.Kind && k.External {
			return "app"
		}
	}
	return sc.Drive.Kind
}

// The harness's specs run every shipped scenario: each ends with the status that
// it expects, and each fault that it plans fires. So it is enough here that some
// scenario expects the status, or plans the fault.
var _ = Describe("The shipped scenarios", Label("H-02"), func() {
	var (
		set      []scenarios.Scenario
		statuses = map[string][]string{} // scenarios by agent and status
		provider = map[string][]string{} // scenarios by fault
		process  = map[string][]string{}
	)
	BeforeEach(func() {
		var found scenarios.Diagnostics
		set, found = scenarios.Load(append(scenarios.Names(), "../test/demo/scenarios"), scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(found).To(BeEmpty())
		for _, sc := range set {
			ending := agentOf(sc) + " " + sc.Expect.Status
			statuses[ending] = append(statuses[ending], sc.Name)
			faults := provider
			if sc.Backend.Process() {
				faults = process
			}
			for _, line := range slices.Concat(sc.Backend.Replies, sc.Backend.Rules) {
				if line.Fault != nil {
					faults[line.Fault.Kind] = append(faults[line.Fault.Kind], sc.Name)
				}
			}
		}
	})

	It("end in every way in which the loop can", Label("L-09"), func() {
		for _, row := range loop.Statuses() {
			Expect(statuses).To(HaveKey("loop " + string(row.Status)))
		}
	})

	It("end in every way in which a host with a hook can", func() {
		for _, status := range hookkind.Kind().Statuses {
			Expect(statuses).To(HaveKey("hook " + status))
		}
	})

	It("end in every way in which a supervisor and a ReAct agent can", Label("R-09"), func() {
		for _, row := range persist.Statuses() {
			Expect(statuses).To(HaveKey("supervise " + string(row.Status)))
		}
		for _, row := range react.Statuses() {
			Expect(statuses).To(HaveKey("react " + string(row.Status)))
		}
	})

	It("end in every way in which an agent of somebody else can, of which something can be said", Label("H-01"), func() {
		for _, status := range scenarios.AppStatuses() {
			if status != scenarios.AppError { // the verdict of such a scenario is error
				Expect(statuses).To(HaveKey("app " + status))
			}
		}
	})

	It("show each check of a supervisor failing, and passing after that", Label("P-01", "P-02"), func() {
		failing, mended := map[plan.Check]bool{}, map[plan.Check]bool{}
		for _, sc := range set {
			d, ok := sc.Drive.Options.(*supervise.Options)
			if !ok {
				continue
			}
			for name, looks := range d.Looks {
				failing[name] = failing[name] || looks[len(looks)-1].Verdict == plan.Fail
				mended[name] = mended[name] || looks[0].Verdict == plan.Fail && looks[len(looks)-1].Verdict == plan.Pass
			}
		}
		for _, info := range plan.Checks() {
			if !info.Own { // the others come of what the supervisor does
				Expect(failing).To(HaveKeyWithValue(info.Name, true))
				Expect(mended).To(HaveKeyWithValue(info.Name, true))
			}
		}
	})

	It("drive the hook of every host, and damage its input in every way", Label("G-12"), func() {
		seen := map[string]bool{}
		for _, sc := range set {
			if d, ok := sc.Drive.Options.(*hookkind.Options); ok {
				seen[d.Host], seen[d.Damage] = true, true
			}
		}
		for _, host := range hook.Hosts() {
			Expect(seen).To(HaveKey(string(host)))
		}
		for _, damage := range []string{
			"empty", "not-json", "no-message", "no-transcript", "no-state",
		} {
			Expect(seen).To(HaveKey(damage))
		}
	})

	It("show every fault of a provider", func() {
		for _, kind := range mocks.APIFaults() {
			Expect(provider).To(HaveKey(kind))
		}
	})

	It("show every fault of a process", func() {
		Expect(mocks.ProcessFaults()).NotTo(BeEmpty())
		for _, kind := range mocks.ProcessFaults() {
			Expect(process).To(HaveKey(kind))
		}
	})

	It("reach the backend in every way", func() {
		kinds := map[string]bool{}
		for _, sc := range set {
			kinds[sc.Backend.Kind()] = true
		}
		Expect(kinds).To(HaveLen(5))
	})

	It("go along the golden path in both modes over an API and over agents of both kinds", func() {
		golden := map[string]bool{}
		for _, sc := range set {
			if d, ok := sc.Drive.Options.(*loopkind.Options); ok && slices.Contains(sc.Tags, "golden") {
				golden[string(d.Mode)+" "+sc.Backend.Kind()] = true
			}
		}
		for _, way := range []string{" openai", "json openai", " socket", " claude", "json claude", " codex", "json codex", " exec"} {
			Expect(golden).To(HaveKey(way))
		}
	})

	It("show each guard firing and just not firing", Label("L-03", "L-04", "L-05", "L-10", "L-11"), func() {
		for _, name := range []string{
			"max-iterations", "timeout", "call-timeout", "no-progress", "alternation", "near-identical", "repeated-errors",
			"error-limit", "budget-calls", "budget-tokens", "budget-cost", "breaker-gives-up", "interrupted", "blocked", "blocked-json",
		} {
			Expect(scenarios.Names()).To(ContainElement(ContainSubstring("loop/" + name)))
			Expect(scenarios.Names()).To(ContainElement("loop/" + name + "-just-not"))
		}
	})

	It("have a description, requirements and expectations", func() {
		for _, sc := range set {
			Expect(sc.About).To(MatchRegexp(`^[A-Za-z].{15,}[.]$`), sc.Name)
			Expect(sc.Proves).NotTo(BeEmpty(), sc.Name)
			Expect(sc.Expect.Status).NotTo(BeEmpty(), sc.Name)
			file, root := strings.TrimPrefix(sc.File, "shipped:"), "../../"
			if file == sc.File {
				root = "../../../../" // from test/demo/scenarios
			}
			data, err := os.ReadFile(file)
			Expect(err).NotTo(HaveOccurred())
			Expect(string(data)).To(HavePrefix("# yaml-language-server: $schema="+root+"schema/scenario.json\nname: "+sc.Name+"\n"), sc.Name)
			longest := 60
			if strings.HasPrefix(sc.Name, "all/") {
				longest = 150 // a whole story
			}
			Expect(strings.Count(string(data), "\n")).To(BeNumerically("<", longest), sc.Name)
		}
	})
})
