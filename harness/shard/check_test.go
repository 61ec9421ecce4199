package shard_test

import (
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/shard"
)

// inventories are the complete parts of a run of a (1), b (3), c (1) and d (2 trials) in two parts.
func inventories() []shard.Inventory {
	plan := []record.Planned{{Name: "a", Trials: 1, Shard: 1}, {Name: "b", Trials: 3, Shard: 2}, {Name: "c", Trials: 1, Shard: 1}, {Name: "d", Trials: 2, Shard: 1}}
	part := func(name string, index int, trials map[string][]int) shard.Inventory {
		return shard.Inventory{Name: name, Trials: trials, Run: record.Run{
			ID: name, Tool: "rehearse 1", Prices: "2026-11-20", Scenarios: len(trials), Trials: 9, Labels: map[string]string{"branch": "main"},
			Shard: &record.Shard{Index: index, Of: 2, Run: "whole", Options: []string{"live"}, Plan: slices.Clone(plan)},
		}}
	}
	return []shard.Inventory{
		part("second", 2, map[string][]int{"b": {1, 2, 3}}), part("first", 1, map[string][]int{"a": {1}, "c": {1}, "d": {1, 2}}),
	}
}

var _ = Describe("Check", Label("H-04"), func() {
	It("returns the header of the whole run", func() {
		run, err := shard.Check(inventories())
		Expect(err).NotTo(HaveOccurred())
		Expect(run).To(Equal(record.Run{
			ID: "whole", Tool: "rehearse 1", Prices: "2026-11-20", Scenarios: 4, Trials: 7, Labels: map[string]string{"branch": "main"},
		}))
	})

	DescribeTable("refuses", func(change func(parts []shard.Inventory) []shard.Inventory, want string) {
		_, err := shard.Check(change(inventories()))
		Expect(err).To(MatchError(want))
		Expect(err).To(BeAssignableToTypeOf(&shard.MismatchError{}))
	},
		Entry("nothing", func([]shard.Inventory) []shard.Inventory { return nil }, "there is nothing to merge"),
		Entry("a missing part", func(p []shard.Inventory) []shard.Inventory { return p[:1] },
			"shard 1/2 is missing, with its trials: a, c, d (1-2 of 2)"),
		Entry("a part that is there twice", func(p []shard.Inventory) []shard.Inventory {
			again := p[0]
			again.Name = "copy"
			return append(p, again)
		}, "overlap: shard 2/2 is in second and in copy: b"),
		Entry("a part twice, and another one missing", func(p []shard.Inventory) []shard.Inventory { return []shard.Inventory{p[0], p[0]} },
			"overlap: shard 2/2 is in second and in second: b\nshard 1/2 is missing, with its trials: a, c, d (1-2 of 2)"),
		Entry("missing trials", func(p []shard.Inventory) []shard.Inventory {
			p[0].Trials["b"] = []int{2}
			delete(p[1].Trials, "c")
			return p
		}, "first, shard 1/2, is not complete; missing trials: c\nsecond, shard 2/2, is not complete; missing trials: b (1, 3 of 3)"),
		Entry("a scenario of another part", func(p []shard.Inventory) []shard.Inventory {
			p[0].Trials["a"] = []int{1}
			return p
		}, "overlap: second has scenarios that its plan gives to other shards: a"),
		Entry("a whole run", func(p []shard.Inventory) []shard.Inventory {
			p[1].Run.Shard = nil
			return p
		}, "first is the recording of a whole run, not of a shard (run --shard)"),
		Entry("a scenario of no part", func(p []shard.Inventory) []shard.Inventory {
			p[1].Run.Shard.Plan[0].Shard = 3
			return p
		}, "first has a plan that no version of this program writes"),
		Entry("a scenario that is there twice", func(p []shard.Inventory) []shard.Inventory {
			p[1].Run.Shard.Plan[0].Name = "b"
			return p
		}, "first has a plan that no version of this program writes"),
		Entry("an index beyond the parts", func(p []shard.Inventory) []shard.Inventory {
			p[1].Run.Shard.Index = 3
			return p
		}, "first has a plan that no version of this program writes"),
		Entry("more parts than possible", func(p []shard.Inventory) []shard.Inventory {
			p[1].Run.Shard.Of = 1 << 40
			return p
		}, "first has a plan that no version of this program writes"),
		Entry("trials that are missing at the end of many", func(p []shard.Inventory) []shard.Inventory {
			for i := range p {
				p[i].Run.Shard.Plan[1].Trials = 1 << 40
			}
			return p
		}, "second, shard 2/2, is not complete; missing trials: b (4-1099511627776 of 1099511627776)"),
		Entry("another program", func(p []shard.Inventory) []shard.Inventory {
			p[1].Run.Tool = "rehearse 2"
			return p
		}, "second and first are not shards of one run: their programs differ: rehearse 1 and rehearse 2"),
		Entry("other prices", func(p []shard.Inventory) []shard.Inventory {
			p[1].Run.Prices = "2026-11-21"
			return p
		}, "second and first are not shards of one run: their price tables differ: 2026-11-20 and 2026-11-21"),
		Entry("other labels", func(p []shard.Inventory) []shard.Inventory {
			p[1].Run.Labels = maps.Clone(p[1].Run.Labels)
			p[1].Run.Labels["branch"] = "next"
			return p
		}, "second and first are not shards of one run: their labels differ: map[branch:main] and map[branch:next]"),
		Entry("another number of parts", func(p []shard.Inventory) []shard.Inventory {
			p[1].Run.Shard.Of = 3
			return p
		}, "second and first are not shards of one run: their numbers of shards differ: 2 and 3"),
		Entry("other options", func(p []shard.Inventory) []shard.Inventory {
			p[1].Run.Shard.Options = nil
			return p
		}, "second and first are not shards of one run: their options differ: [live] and []"),
		Entry("other scenarios", func(p []shard.Inventory) []shard.Inventory {
			p[1].Run.Shard.Plan[0].Name = "z"
			return p
		}, "second and first are not shards of one run: their plans differ: a in shard 1 with 1 trial and z in shard 1 with 1 trial"),
		Entry("another order of scenarios", func(p []shard.Inventory) []shard.Inventory {
			slices.Reverse(p[1].Run.Shard.Plan)
			return p
		}, "second and first are not shards of one run: their plans differ: another order and another order"),
		Entry("changed scenarios", func(p []shard.Inventory) []shard.Inventory {
			p[1].Run.Shard.Run = "other"
			return p
		}, "second and first are not shards of one run: a scenario, a file that it names or a price has changed between them: whole and other"),
	)
})
