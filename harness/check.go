package harness

import (
	"context"
	"flag"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/kind"
)

// Main lets a test binary be the other programs that some scenarios need: scripted
// command-line agents (as: claude), hooks of hosts, {rehearse}. These are the test binary
// itself, started again. Call it first thing in TestMain, with the kinds of agents that scenarios
// drive; it returns at once where the process was not started for that.
func Main(kinds ...kind.Kind) { kind.List(kinds).Main() }

// T is what Check needs of a test: *testing.T and GinkgoT() have it.
type T interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// Check rehearses within a test. The test fails, with a text that says what happened, if
// a trial does not do what its scenario expects; it ends if the rehearsal cannot be
// carried out, and is skipped if every trial was. The result is for further assertions.
func Check(t T, r Rehearsal) *Result {
	t.Helper()
	failedFolder := func() string { return r.RecordFailed }
	if r.RecordFailed == "" {
		failedFolder = artifactDir(t)
	}
	res, err := r.rehearse(t.Context(), failedFolder)
	if err != nil {
		t.Fatalf("%v", err)
		return res
	}
	switch res.Verdict {
	case gate.Pass:
	case gate.Skip:
		t.Skipf("%s", res)
	default:
		t.Errorf("%s", res)
	}
	return res
}

// artifactDir returns the method ArtifactDir of a test, as *testing.T has it, if "go test"
// keeps that folder; nil otherwise.
func artifactDir(t T) func() string {
	test, ok := t.(interface{ ArtifactDir() string })
	if keeps := flag.Lookup("test.artifacts"); !ok || keeps == nil || keeps.Value.String() != "true" {
		return nil
	}
	return test.ArtifactDir
}
