package reports

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// experimentHeadline returns the verdict of the experiment and its finding in a sentence.
func experimentHeadline(r *result.Experiment) (result.Verdict, string) {
	if r.Tune != nil {
		return tuneHeadline(r.Tune)
	}
	primary := inRole(r, result.Primary)
	if len(primary) == 1 {
		c := primary[0]
		return knownVerdict(c.Verdict), comparisonSentence(r, c)
	}
	counts := map[result.Verdict]int{}
	for _, c := range primary {
		counts[knownVerdict(c.Verdict)]++
	}
	var parts []string
	for _, v := range []result.Verdict{result.Better, result.Worse, result.Equivalent, result.Undecided} {
		if n := counts[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	if len(parts) == 0 {
		return result.Undecided, "nothing was compared"
	}
	text := fmt.Sprintf("%s of %s by %s", strings.Join(parts, ", "), format.Count(len(primary), "comparison"), r.Design.Primary.Name)
	switch {
	case counts[result.Better] > 0:
		return result.Better, text
	case counts[result.Worse] > 0:
		return result.Worse, text
	case counts[result.Undecided] > 0:
		return result.Undecided, text
	}
	return result.Equivalent, text
}

func tuneHeadline(t *result.Tune) (result.Verdict, string) {
	if t.Promoted {
		return result.Better, fmt.Sprintf("%s is promoted: it is better than %s on the held-out scenarios", t.Chosen, t.Base)
	}
	return result.Undecided, fmt.Sprintf("nothing is promoted: %s stays", t.Base)
}

// comparisonSentence describes the outcome of a comparison.
func comparisonSentence(r *result.Experiment, c *result.Comparison) string {
	variant, against, by := c.Variant, c.Against, c.Measure
	switch knownVerdict(c.Verdict) {
	case result.Better:
		return fmt.Sprintf("%s is better than %s by %s: %s", variant, against, by, effectText(r, c))
	case result.Worse:
		return fmt.Sprintf("%s is worse than %s by %s: %s", variant, against, by, effectText(r, c))
	case result.Equivalent:
		return fmt.Sprintf("%s and %s are equivalent by %s: %s", variant, against, by, effectText(r, c))
	default:
		return fmt.Sprintf("undecided whether %s is better than %s by %s: %s", variant, against, by, effectText(r, c))
	}
}

// knownVerdict returns a verdict; an unknown one is undecided.
func knownVerdict(v result.Verdict) result.Verdict {
	if _, ok := experimentSigns[v]; ok {
		return v
	}
	return result.Undecided
}

// inRole returns the comparisons of a role.
func inRole(r *result.Experiment, role result.Role) []*result.Comparison {
	var list []*result.Comparison
	for i := range r.Comparisons {
		if c := &r.Comparisons[i]; c.Role == role {
			list = append(list, c)
		}
	}
	return list
}

// comparisonsByMeasure returns the comparisons by measure, the primary measure first.
func comparisonsByMeasure(r *result.Experiment) [][]*result.Comparison {
	var groups [][]*result.Comparison
	at := map[string]int{}
	for _, role := range []result.Role{result.Primary, result.Secondary} {
		for _, c := range inRole(r, role) {
			key := string(role) + "\x00" + c.Measure
			i, ok := at[key]
			if !ok {
				i = len(groups)
				at[key] = i
				groups = append(groups, nil)
			}
			groups[i] = append(groups[i], c)
		}
	}
	return groups
}
