package experiment

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"math"
	"path"
	"slices"

	"github.com/rehearse-dev/rehearse/internal/seed"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// part checks the split and returns the scenarios of the experiment: all of them, or the held-out
// ones.
func (l *loader) part(base []scenarios.Scenario) []scenarios.Scenario {
	s := l.file.Split
	if s == nil {
		return base
	}
	if (s.Share > 0) == (len(s.HeldOut) > 0) {
		l.add("split", "", "write either share, or held_out with names of scenarios")
		return nil
	}
	for i, pattern := range s.HeldOut {
		if !slices.ContainsFunc(base, func(sc scenarios.Scenario) bool { return matches(pattern, sc.Name) }) {
			l.add("split.held_out", "", "held_out[%d]: no scenario of the experiment is named %q", i, pattern)
			return nil
		}
	}
	training, heldOut := l.split(base)
	if len(heldOut) == 0 || len(heldOut) == len(base) {
		l.add("split", "", "%[2]d of %[1]d scenarios are held out; both parts need some", len(base), len(heldOut))
		return nil
	}
	l.training = namesOf(training)
	return heldOut
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// split divides scenarios into training and held-out ones.
func (e *Experiment) split(all []scenarios.Scenario) (training, heldOut []scenarios.Scenario) {
	out := map[string]bool{}
	s := e.file.Split
	if s.Share > 0 {
		byDraw := slices.Clone(all)
		slices.SortStableFunc(byDraw, func(a, b scenarios.Scenario) int {
			return cmp.Compare(draw(e.file.Seed, a.Name), draw(e.file.Seed, b.Name))
		})
		for _, sc := range byDraw[:int(math.Round(s.Share*float64(len(all))))] {
			out[sc.Name] = true
		}
	}
	for _, sc := range all {
		if out[sc.Name] || slices.ContainsFunc(s.HeldOut, func(p string) bool { return matches(p, sc.Name) }) {
			heldOut = append(heldOut, sc)
		} else {
			training = append(training, sc)
		}
	}
	return training, heldOut
}

// draw returns a number that depends on from and text only.
func draw(from uint64, text string) uint64 {
	h := fnv.New64a()
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], from)
	_, _ = h.Write(b[:])
	_, _ = h.Write([]byte(text))
	// FNV mixes its last bytes badly; seed.Mix does the rest.
	return seed.Mix(h.Sum64())
}
