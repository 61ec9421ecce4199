package shard_test

import (
	"fmt"
	"slices"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/shard"
)

func TestShard(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "harness/shard")
}

// items are scenarios with this number of trials each.
func items(names, trials int) []shard.Item {
	list := make([]shard.Item, names)
	for i := range list {
		list[i] = shard.Item{Name: fmt.Sprintf("shop/scenario-%d", i), Trials: trials}
	}
	return list
}

// loads returns the sum of trials of each part, and the numbers of items.
func loads(list []shard.Item, parts []int, n int) (trials, counts []int) {
	trials, counts = make([]int, n), make([]int, n)
	for i, part := range parts {
		trials[part-1] += list[i].Trials
		counts[part-1]++
	}
	return trials, counts
}

var _ = Describe("a part", Label("H-04"), func() {
	DescribeTable("is read", func(text string, want shard.Part) {
		part, err := shard.Parse(text)
		Expect(err).NotTo(HaveOccurred())
		Expect(part).To(Equal(want))
		Expect(part.String()).To(Equal(text))
	},
		Entry("the only one", "1/1", shard.Part{Index: 1, Of: 1}), Entry("one of several", "2/5", shard.Part{Index: 2, Of: 5}),
	)
	DescribeTable("is refused", func(text, want string) {
		_, err := shard.Parse(text)
		Expect(err).To(MatchError(ContainSubstring(want)))
	},
		Entry("empty", "", "such as 2/5"), Entry("a number", "2", "such as 2/5"), Entry("words", "a/b", "such as 2/5"),
		Entry("three numbers", "1/2/3", "such as 2/5"), Entry("the number 0", "0/2", "the shards are 1/2 to 2/2"),
		Entry("too large", "3/2", "the shards are 1/2 to 2/2"), Entry("of none", "1/0", "from 1 to 10000, got 0"),
		Entry("of too many", "1/10001", "from 1 to 10000, got 10001"), Entry("negative", "-1/-1", "from 1 to 10000"),
	)
})

var _ = Describe("Assign", Label("H-04"), func() {
	It("gives every item one part, whatever the order, and leaves no part empty", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			names := rapid.SliceOfNDistinct(rapid.StringMatching("[a-z]{1,4}(/[a-z]{1,3})?"), 1, 40, rapid.ID[string]).Draw(t, "names")
			list := make([]shard.Item, len(names))
			heaviest, total := 0, 0
			for i, name := range names {
				list[i] = shard.Item{Name: name, Trials: rapid.IntRange(1, 20).Draw(t, "trials")}
				heaviest, total = max(heaviest, list[i].Trials), total+list[i].Trials
			}
			n := rapid.IntRange(1, len(list)).Draw(t, "n")
			parts := shard.Assign(list, n)
			trials, counts := loads(list, parts, n)
			if slices.Min(counts) == 0 {
				t.Fatalf("an empty part: %v", counts)
			}
			if slices.Max(trials) > total/n+heaviest {
				t.Fatalf("trials %v, share %d, heaviest %d", trials, total/n, heaviest)
			}
			order := rapid.Permutation(list).Draw(t, "order")
			for i, part := range shard.Assign(order, n) {
				if part != parts[slices.Index(list, order[i])] {
					t.Fatalf("%s depends on the order", order[i].Name)
				}
			}
		})
	})

	It("is even for items of the same size", func() {
		for n := 1; n <= 12; n++ {
			list := items(100, 3)
			_, counts := loads(list, shard.Assign(list, n), n)
			Expect(slices.Max(counts)-slices.Min(counts)).To(BeNumerically("<=", 1), "%d parts: %v", n, counts)
		}
	})

	It("moves few items if one is added", func() {
		for _, n := range []int{2, 3, 4, 8} {
			moved, kept := 0, 0
			for size := 50; size < 250; size += 5 {
				before, after := shard.Assign(items(size, 1), n), shard.Assign(items(size+1, 1), n)
				for i, part := range before {
					if part == after[i] {
						kept++
					} else {
						moved++
					}
				}
			}
			share := float64(moved) / float64(moved+kept)
			fmt.Fprintf(GinkgoWriter, "%d parts: %.2f %% of the items move\n", n, 100*share)
			Expect(share).To(BeNumerically("<", 0.04), "%d parts", n)
		}
	})

	It("is the same in all versions of the program", func() {
		Expect(shard.Assign(items(12, 1), 3)).To(Equal([]int{2, 2, 3, 1, 3, 2, 1, 1, 1, 2, 3, 3}))
	})
})
