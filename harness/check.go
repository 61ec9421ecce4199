package harness

import (
	"context"
	"flag"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/kind"
)

// Main lets a test binary act as the other programs that some scenarios need: scripted command-line
// agents (as: claude), hooks of hosts, {rehearse}. These are further processes of the test binary.
// Call Main first in TestMain, with the kinds of agents that scenarios drive; it returns at once in
// any other process.
func Main(kinds ...kind.Kind) { kind.List(kinds).Main() }

// T is the part of a test that Check needs; *testing.T and GinkgoT() implement it.
type T interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// Check rehearses within a test. The test fails, with a description of the trials, if a trial does
// not meet the expectations of its scenario. It ends at once if the rehearsal fails, and is skipped
// if every trial was skipped. The result is for further assertions.
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

// artifactDir returns the method ArtifactDir of a test such as *testing.T under "go test -artifacts";
// otherwise nil.
func artifactDir(t T) func() string {
	test, ok := t.(interface{ ArtifactDir() string })
	if artifacts := flag.Lookup("test.artifacts"); !ok || artifacts == nil || artifacts.Value.String() != "true" {
		return nil
	}
	return test.ArtifactDir
}
