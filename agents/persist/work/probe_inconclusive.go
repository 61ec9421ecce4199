package work

import (
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// Test runners that end with status 0 although they ran no test print these lines: unittest of Python up
// to 3.11, node --test, go test, cargo test. The last two report each package, so other lines show
// whether any package has tests.
var (
	ranNone = lazyregexp.New(`(?m)^Ran 0 tests in |^(# |ℹ )tests 0$`)

	packageWithout = lazyregexp.New(`(?m)\[no test files\]$|^test result: ok\. 0 passed; 0 failed`)
	packageWith    = lazyregexp.New(`(?m)^ok\s+\S|^--- |^test result: ok\. [1-9]`)

	// missingModule is the report of Python that a tool such as pytest is not installed.
	missingModule = lazyregexp.New(`(?m)^\S*python[0-9.]*(?:\.exe)?: No module named ([\w.]+)`)
	// collectedNone is the last line of pytest, which then ends with status 5.
	collectedNone = lazyregexp.New(`(?m)^no tests (ran|collected) in `)
)

// provesNothing returns the reason why the exit status of a command proves neither success nor
// failure, or "". If the beginning of the output is cut off, the reports of packages are unknown.
func provesNothing(r plan.CheckResult, cut bool) string {
	switch {
	case r.Verdict == plan.Pass && ranNone().MatchString(r.Output),
		r.Verdict == plan.Pass && !cut && packageWithout().MatchString(r.Output) && !packageWith().MatchString(r.Output),
		r.Verdict == plan.Fail && collectedNone().MatchString(r.Output):
		return "ran no test, so it proves nothing"
	case r.Verdict == plan.Fail:
		if module := missingModule().FindStringSubmatch(r.Output); module != nil {
			return "needs the Python module " + module[1] + ", which is not installed"
		}
	}
	return ""
}
