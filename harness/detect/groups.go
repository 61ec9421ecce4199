package detect

import (
	"cmp"
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/stat"
)

// maxGroups limits the groups of a dimension, because each item of a corpus can have its own tag.
const maxGroups = 200

// other is the group of all names after the first maxGroups.
const other = "(other)"

// dimensions are the ways of grouping items.
var dimensions = [...]struct {
	name string
	of   func(*Item) []string
}{
	{"language", func(i *Item) []string { return known(i.Lang) }},
	{"confidence", func(i *Item) []string { return known(confidence(i)) }},
	{"category", func(i *Item) []string { return i.Categories }},
	{"part", func(i *Item) []string { return known(i.Part) }},
	{"repository", func(i *Item) []string { return known(i.Repo) }},
	{"tag", func(i *Item) []string { return i.Tags }},
}

func known(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

// confidence returns the confidence of the label; high by default.
func confidence(i *Item) string { return cmp.Or(i.Confidence, "high") }

// grouping counts by name.
type grouping struct {
	counts map[string]*Counts
	merged int
}

// at returns the counts of a group, and creates the group.
func (g *grouping) at(name string) *Counts {
	if c, ok := g.counts[name]; ok {
		return c
	}
	if g.counts == nil {
		g.counts = map[string]*Counts{}
	}
	if len(g.counts) >= maxGroups {
		g.merged++
		name = other
	}
	name = clip(name, maxName)
	if g.counts[name] == nil {
		g.counts[name] = &Counts{}
	}
	return g.counts[name]
}

// result returns the groups sorted by name, confidences from high to low.
func (g *grouping) result(resamples int, seed uint64) []Group {
	var list []Group
	byName := func(a, b string) int { return cmp.Or(cmp.Compare(doubt(a), doubt(b)), cmp.Compare(a, b)) }
	for _, name := range slices.SortedFunc(maps.Keys(g.counts), byName) {
		list = append(list, Group{Name: name, Scores: g.counts[name].scores(resamples, seed)})
	}
	return list
}

// classes counts labels (rows) and predicted classes (columns).
type classes struct {
	labels  []string
	counts  [][]int // in the order of labels
	n       int
	unknown int
}

func newClasses(labels []string) classes {
	c := classes{labels: labels, counts: make([][]int, len(labels))}
	for i := range c.counts {
		c.counts[i] = make([]int, len(labels))
	}
	return c
}

func (c *classes) add(label, detected string) {
	if detected == "" {
		return
	}
	column := slices.Index(c.labels, detected)
	if column < 0 {
		c.unknown++
		return
	}
	c.counts[slices.Index(c.labels, label)][column]++
	c.n++
}

func (c *classes) result(resamples int, seed uint64) *Classes {
	if c.n == 0 && c.unknown == 0 {
		return nil
	}
	out := &Classes{Labels: slices.Clone(c.labels), Unknown: c.unknown}
	var cells []int
	agreed := 0
	for i, row := range c.counts {
		out.Counts = append(out.Counts, slices.Clone(row))
		cells = append(cells, row...)
		agreed += row[i]
	}
	out.Agreement = proportion(agreed, c.n)
	out.Kappa = valueOf(stat.Bootstrap(cells, kappaOf(len(c.labels)), resamples, seed, stat.Level))
	return out
}

// kappaOf returns Cohen's kappa of the cells of a table with n columns, row by row.
func kappaOf(n int) func(cells []int) float64 {
	return func(cells []int) float64 { return stat.Kappa(slices.Collect(slices.Chunk(cells, n))) }
}
