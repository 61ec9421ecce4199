package scenarios_test

import (
	"testing"
	"testing/fstest"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// FuzzParse checks that any file is refused or gives a scenario that can be run,
// and that the same file always gives the same answer.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		right,
		change("text: One", "file: one.txt"),
		change("text: One", "fault: {kind: status, status: 429, retry_after: 2s}, text: One"),
		change("replies:\n    - {text: One}\n    - {text: DONE}", "rules:\n    - {template: '{{.Turn}}', when: {user: {matches: '^W'}}, then: x}\n    - {text: DONE, in: x}"),
		change("calls: 2", "calls: {at_least: 1}\n  cost: {at_most: 1 EUR}\n  that: [calls.total == 2, 'events.all(e, e.n > 0)']"),
		change("prompt: Work.", "prompt: Work., config: {timeout: 1h, budget: {cost: 1 USD}}, breaker: {failures: 2, cooldown: 1s}"),
		"name: &n a\nabout: *n\nexpect: {<<: {status: done}}\n",
		"drive: {loop: }\nbackend: ~\nexpect: []\n",
	} {
		f.Add([]byte(seed))
	}
	files := fstest.MapFS{"one.txt": {Data: []byte("One")}}
	f.Fuzz(func(t *testing.T, data []byte) {
		opts := scenarios.Options{Kinds: kinds.All().Formats(), CheckExpr: kinds.Language().Check}
		sc, found := scenarios.Parse("f.yaml", data, files, opts)
		again, foundAgain := scenarios.Parse("f.yaml", data, files, opts)
		if sc.Digest != again.Digest || found.Error() != foundAgain.Error() {
			t.Errorf("first %s\n%s\nthen %s\n%s", sc.Digest, found.Error(), again.Digest, foundAgain.Error())
		}
		if len(found) > 0 {
			return
		}
		if sc.Name == "" || sc.Trials < 1 || sc.Seed < 1 || sc.Drive == (scenarios.Drive{}) || len(sc.Backend.Validate()) > 0 {
			t.Errorf("accepted, but cannot be run: %+v", sc)
		}
		if _, err := gate.NewJudge(kinds.Language(), sc.Expect); err != nil {
			t.Errorf("accepted, but cannot be judged: %v", err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, found := scenarios.Parse("f.yaml", []byte(right), nil, scenarios.Options{Kinds: kinds.All().Formats(), CheckExpr: kinds.Language().Check}); len(found) > 0 {
			b.Fatal(found)
		}
	}
}
