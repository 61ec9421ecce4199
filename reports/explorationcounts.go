package reports

import "github.com/rehearse-dev/rehearse/harness/result"

// familyCount counts the runs of one family by outcome.
type familyCount struct {
	// Family is empty for the sum of all.
	Family result.Family
	Runs   int
	// By has the runs of each outcome; one that is not known counts as an error.
	By map[result.Outcome]int
}

// familyCounts returns a row for each explored family, and their sum if there are several.
func familyCounts(r *result.Exploration) []familyCount {
	total := familyCount{By: map[result.Outcome]int{}}
	of := map[result.Family]*familyCount{}
	var order []result.Family
	for _, f := range result.Families() {
		order = append(order, f)
		of[f] = &familyCount{Family: f, By: map[result.Outcome]int{}}
	}
	for i := range r.Cells {
		c := &r.Cells[i]
		if of[c.Family] == nil { // of a later version
			order = append(order, c.Family)
			of[c.Family] = &familyCount{Family: c.Family, By: map[result.Outcome]int{}}
		}
		for _, count := range []*familyCount{of[c.Family], &total} {
			count.Runs++
			count.By[symbolOf(c.Outcome).outcome]++
		}
	}
	var list []familyCount
	for _, f := range order {
		if of[f].Runs > 0 {
			list = append(list, *of[f])
		}
	}
	if len(list) != 1 {
		list = append(list, total)
	}
	return list
}
