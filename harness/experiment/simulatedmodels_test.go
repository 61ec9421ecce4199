package experiment_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/stat"
)

// simulatedModels is an experiment whose models draw their answers: variant same with the
// same probability as base but its own draws, good with 35 points more.
const simulatedModels = `schema: rehearse.experiment/1
name: sim/whole
scenarios: [one.yaml, two.yaml]
variants:
  - name: base
  - name: VARIANT
    set:
      backend.rules:
        - one_of:
            - {chance: BELOW, text: "I look at it."}
            - {chance: CHANCE, text: "It passes.\n\nDONE"}
            - {text: "I look at it again."}
trials: TRIALS
primary: {name: pass}
`

// BenchmarkWhole runs whole experiments on simulated models with different seeds and the
// planned number of trials: without a difference, and with a pass rate that rises from 0.5
// to 0.85.
func BenchmarkWhole(b *testing.B) {
	RegisterTestingT(b)
	// Of the same draw, base passes below 0.5, and good between 0.14 and 0.99.
	onlyBase, onlyGood := 0.14, 0.49
	deviation := math.Sqrt(onlyBase + onlyGood - (onlyGood-onlyBase)*(onlyGood-onlyBase))
	trials := (stat.ShareNeeded(onlyGood-onlyBase, deviation, 0.05, 0.8) + 1) / 2
	for _, w := range []struct {
		variant, below, chance string
		power                  float64
	}{{"same", "0.25", "0.5", 0}, {"good", "0.14", "0.85", 0.8}} {
		b.Run(w.variant, func(b *testing.B) {
			text := strings.NewReplacer("VARIANT", w.variant, "BELOW", w.below, "CHANCE", w.chance, "TRIALS", fmt.Sprint(trials)).Replace(simulatedModels)
			e, env := wholeExperiment(b, text)
			n, found := 0, 0
			once := func() {
				n++
				e.Reseed(uint64(n))
				res, err := e.Run(context.Background(), experiment.Options{Env: env, Workers: 2})
				if err != nil {
					b.Fatal(err)
				}
				if v := res.Comparisons[0].Verdict; v == result.Better || v == result.Worse {
					found++
				}
			}
			for b.Loop() {
				once()
			}
			for n < enough() {
				once()
			}
			rate := float64(found) / float64(n)
			in := stat.Proportion(found, n, 0.999).Interval
			if w.power == 0 {
				b.ReportMetric(rate, "false-alarms")
				if in.Lo > 0.05 {
					b.Fatalf("%d of %d experiments raised a false alarm", found, n)
				}
				return
			}
			b.ReportMetric(rate, "power")
			if in.Hi < w.power-tolerance || in.Lo > w.power+2*tolerance {
				b.Fatalf("%d of %d experiments found what %.0f %% of them should", found, n, 100*w.power)
			}
		})
	}
}

// deafSearch is a search among words that do not help.
const deafSearch = `schema: rehearse.experiment/1
name: sim/deaf
scenarios: [train.yaml, held.yaml]
variants: [{name: base}]
trials: 40
primary: {name: pass, smallest_effect: 0.1}
split: {held_out: [sim/held]}
tune:
  base: base
  path: drive.loop.prompt
  text: "Fix the test{{how}}."
  fragments: [{name: how, options: ["", " slowly", " carefully", " quickly"]}]
  trials: 20
`

// BenchmarkTune measures how often a search promotes a text although none helps. It fails if
// that exceeds alpha, or if the search never selects a text, which would prove nothing.
func BenchmarkTune(b *testing.B) {
	e, env := wholeExperiment(b, deafSearch)
	n, found, promoted := 0, 0, 0
	once := func() {
		n++
		e.Reseed(uint64(n))
		res, err := e.Tune(context.Background(), experiment.Options{Env: env, Workers: 2})
		if err != nil {
			b.Fatal(err)
		}
		found += one(res.Tune.Chosen != "how-1")
		promoted += one(res.Tune.Promoted)
	}
	for b.Loop() {
		once()
	}
	for n < enough()/4 {
		once()
	}
	b.ReportMetric(float64(found)/float64(n), "chosen")
	b.ReportMetric(float64(promoted)/float64(n), "promoted")
	if tooMany(promoted, n, 0.05) || found < n/2 {
		b.Fatalf("of %d searches %d chose another text, and %d promoted it", n, found, promoted)
	}
}

var _ = Describe("false alarms", Label("H-07"), func() {
	It("are detected if there are too many", func() {
		Expect(tooMany(45, 400, 0.05)).To(BeTrue())
		Expect(tooMany(20, 400, 0.05)).To(BeFalse())
	})

	It("are at most alpha in some experiments of several kinds", func() {
		r := rand.New(rand.NewPCG(1, 2))
		for i, t := range truths() {
			if i%8 != 0 || t.world.Design.Looks > 5 {
				continue
			}
			var s rates
			for range 80 {
				s.add(&t, r)
			}
			Expect(tooMany(s.alarms, s.n, 0.05)).To(BeFalse(), "%s: %+v", t.name, s)
			Expect(tooMany(s.equal, s.n, 0.05)).To(BeFalse(), "%s: %+v", t.name, s)
		}
	})
})
