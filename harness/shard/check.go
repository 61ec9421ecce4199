package shard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// MismatchError means that recordings are not all parts of one run, each once.
type MismatchError struct{ Message string }

// Error implements error.
func (e *MismatchError) Error() string { return e.Message }

// Check returns the header of the whole run if the recordings are its parts, each once and
// complete; the error is a *MismatchError.
func Check(parts []Inventory) (record.Run, error) {
	if len(parts) == 0 {
		return record.Run{}, &MismatchError{"there is nothing to merge"}
	}
	for _, part := range parts {
		if part.Run.Shard == nil {
			return record.Run{}, &MismatchError{part.Name + " is the recording of a whole run, not of a shard (run --shard)"}
		}
		if !valid(part.Run.Shard) {
			return record.Run{}, &MismatchError{part.Name + " has a plan that no version of this program writes"}
		}
		if err := sameRun(parts[0], part); err != nil {
			return record.Run{}, err
		}
	}
	problems := slices.Concat(overlaps(parts), missing(parts))
	if len(problems) > 0 {
		return record.Run{}, &MismatchError{strings.Join(problems, "\n")}
	}
	return whole(parts[0].Run), nil
}

// valid reports whether this program could have written a plan.
func valid(s *record.Shard) bool {
	names := map[string]bool{}
	for _, p := range s.Plan {
		if names[p.Name] || p.Trials < 1 || p.Shard < 1 || p.Shard > s.Of {
			return false
		}
		names[p.Name] = true
	}
	return 1 <= s.Index && s.Index <= s.Of && s.Of <= maxParts
}

// sameRun returns an error unless two parts belong to one run.
func sameRun(a, b Inventory) error {
	x, y := a.Run, b.Run
	differ := func(what string, inA, inB any) error {
		return &MismatchError{fmt.Sprintf("%s and %s are not shards of one run: %s: %v and %v", a.Name, b.Name, what, inA, inB)}
	}
	switch {
	case x.Tool != y.Tool:
		return differ("their programs differ", x.Tool, y.Tool)
	case x.Prices != y.Prices:
		return differ("their price tables differ", x.Prices, y.Prices)
	case !maps.Equal(x.Labels, y.Labels):
		return differ("their labels differ", x.Labels, y.Labels)
	case x.Shard.Of != y.Shard.Of:
		return differ("their numbers of shards differ", x.Shard.Of, y.Shard.Of)
	case !slices.Equal(x.Shard.Options, y.Shard.Options):
		return differ("their options differ", x.Shard.Options, y.Shard.Options)
	case !slices.Equal(x.Shard.Plan, y.Shard.Plan):
		return differ("their plans differ", planned(x.Shard.Plan, y.Shard.Plan), planned(y.Shard.Plan, x.Shard.Plan))
	case x.Shard.Run != y.Shard.Run:
		return differ("a scenario, a file that it names or a price has changed between them", x.Shard.Run, y.Shard.Run)
	}
	return nil
}

// planned describes the scenarios of a plan that are not in the other one.
func planned(plan, other []record.Planned) string {
	var names []string
	for _, p := range plan {
		if !slices.Contains(other, p) {
			names = append(names, fmt.Sprintf("%s in shard %d with %s", p.Name, p.Shard, format.Plural(p.Trials, "trial")))
		}
	}
	if len(names) == 0 {
		return "another order"
	}
	return limited(names)
}

// overlaps describes duplicate parts, and trials that belong to another part.
func overlaps(parts []Inventory) (problems []string) {
	first := map[int]string{}
	for _, part := range parts {
		s := part.Run.Shard
		if other, twice := first[s.Index]; twice {
			problems = append(problems, fmt.Sprintf("overlap: shard %d/%d is in %s and in %s: %s",
				s.Index, s.Of, other, part.Name, limited(slices.Sorted(maps.Keys(part.Trials)))))
			continue
		}
		first[s.Index] = part.Name
		var foreign []string
		for _, name := range slices.Sorted(maps.Keys(part.Trials)) {
			own := func(p record.Planned) bool { return p.Name == name && p.Shard == s.Index }
			if !slices.ContainsFunc(s.Plan, own) {
				foreign = append(foreign, name)
			}
		}
		if len(foreign) > 0 {
			problems = append(problems,
				fmt.Sprintf("overlap: %s has scenarios that its plan gives to other shards: %s", part.Name, limited(foreign)))
		}
	}
	return problems
}

// missing describes the planned trials that are not in any part.
func missing(parts []Inventory) (problems []string) {
	byIndex := map[int]*Inventory{}
	for i := range parts {
		byIndex[parts[i].Run.Shard.Index] = cmp.Or(byIndex[parts[i].Run.Shard.Index], &parts[i])
	}
	s := parts[0].Run.Shard
	for index := 1; index <= s.Of; index++ {
		part := byIndex[index]
		var names []string
		for _, p := range s.Plan {
			if p.Shard != index {
				continue
			}
			var got []int
			if part != nil {
				got = part.Trials[p.Name]
			}
			if gap := missingTrials(p, got); gap != "" {
				names = append(names, gap)
			}
		}
		switch {
		case part == nil:
			problems = append(problems, fmt.Sprintf("shard %d/%d is missing, with its trials: %s", index, s.Of, limited(names)))
		case len(names) > 0:
			problems = append(problems, fmt.Sprintf("%s, shard %d/%d, is not complete; missing trials: %s", part.Name, index, s.Of, limited(names)))
		}
	}
	return problems
}

// missingTrials describes the trials of a scenario that are not in got, if any.
func missingTrials(p record.Planned, got []int) string {
	got = append(slices.Sorted(slices.Values(got)), p.Trials+1)
	var gaps []string
	next := 1 // expected
	for _, n := range got {
		switch n - next {
		case 0:
		case 1:
			gaps = append(gaps, strconv.Itoa(next))
		default:
			if n > next {
				gaps = append(gaps, fmt.Sprintf("%d-%d", next, n-1))
			}
		}
		next = max(next, n+1)
	}
	switch {
	case len(gaps) == 0:
		return ""
	case p.Trials == 1:
		return p.Name
	}
	return fmt.Sprintf("%s (%s of %d)", p.Name, limited(gaps), p.Trials)
}

// limited joins at most 20 names.
func limited(names []string) string {
	const most = 20
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
