package compare_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/rehearse-dev/rehearse/harness/compare"
)

// sides returns two runs of many scenarios: equal ones in virtual time, or noisy agents in
// real time.
func sides(scenarios, trials int, noisy bool) (before, after compare.Baseline) {
	r := rand.New(rand.NewPCG(1, 2))
	before, after = run(), run()
	for i := range scenarios {
		name := fmt.Sprintf("agents/%05d", i)
		if noisy {
			before.Scenarios = append(before.Scenarios, agent(r, name, trials, false))
			after.Scenarios = append(after.Scenarios, agent(r, name, trials, false))
			continue
		}
		var measures []compare.Measure
		for j := range 13 {
			measures = append(measures, measured(fmt.Sprintf("m%02d", j), "", float64(i+j)))
		}
		s := passed(name, trials, measures...)
		before.Scenarios, after.Scenarios = append(before.Scenarios, s), append(after.Scenarios, s)
	}
	return before, after
}

func benchmark(b *testing.B, scenarios, trials int, noisy bool) {
	before, after := sides(scenarios, trials, noisy)
	b.ReportAllocs()
	for b.Loop() {
		compare.Compare(before, after, compare.Options{})
	}
}

func BenchmarkCompare1000(b *testing.B)          { benchmark(b, 1000, 1, false) }
func BenchmarkCompareNoisy100Of20(b *testing.B)  { benchmark(b, 100, 20, true) }
func BenchmarkCompareNoisy100Of200(b *testing.B) { benchmark(b, 100, 200, true) }
func BenchmarkFloorWriteBothSides1000(b *testing.B) {
	before, after := sides(1000, 1, false)
	for b.Loop() {
		for _, side := range []compare.Baseline{before, after} {
			if err := json.NewEncoder(io.Discard).Encode(side.Scenarios); err != nil {
				b.Fatal(err)
			}
		}
	}
}
