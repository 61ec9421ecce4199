// Package shard splits a run into parts that several machines drive, and merges their recordings. The
// result equals the recording of one run, byte for byte.
package shard

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxParts limits the number of parts.
const maxParts = 10_000

// Part is one of several parts of a run, such as 2/5. The zero value is the whole run.
type Part struct {
	// Index counts from 1.
	Index, Of int
}

// Parse parses a part in the form "2/5".
func Parse(text string) (Part, error) {
	index, of, ok := strings.Cut(text, "/")
	i, errIndex := strconv.Atoi(index)
	n, errOf := strconv.Atoi(of)
	switch {
	case !ok || errIndex != nil || errOf != nil:
		return Part{}, errors.New("write the number of the shard and the number of shards, such as 2/5")
	case n < 1 || n > maxParts:
		return Part{}, fmt.Errorf("the number of shards must be from 1 to %d, got %d", maxParts, n)
	case i < 1 || i > n:
		return Part{}, fmt.Errorf("the shards are 1/%d to %d/%d", n, n, n)
	}
	return Part{i, n}, nil
}

// String returns the form that Parse reads; empty for the whole run.
func (p Part) String() string {
	if p.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", p.Index, p.Of)
}

// Item is a scenario to be assigned, with its number of trials.
type Item struct {
	Name   string
	Trials int
}

// Assign returns the part, from 1 to n, of each item. The result depends on the names and numbers of
// trials only, not on the order of the items. If all items have equally many trials, the numbers of
// items of the parts differ by at most 1. Each part has an item if there are at least n items. Most
// items stay in their part when another item is added or removed: an item is assigned to the part that
// a hash of its name prefers, unless that part is full.
func Assign(items []Item, n int) []int {
	order := make([]int, len(items))
	total := 0
	for i, item := range items {
		order[i] = i
		total += item.Trials
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := items[a], items[b]
		return cmp.Or(cmp.Compare(y.Trials, x.Trials), cmp.Compare(score(x.Name, 0), score(y.Name, 0)), cmp.Compare(x.Name, y.Name))
	})
	share := total / max(n, 1)
	parts, loads := make([]int, len(items)), make([]int, n+1)
	put := func(i, part int) {
		parts[i] = part
		loads[part] += items[i].Trials
	}
	var rest []int
	for _, i := range order {
		fits := func(part int) bool { return loads[part]+items[i].Trials <= share }
		wanted := preferred(items[i].Name, n)
		if at := slices.IndexFunc(wanted, fits); at >= 0 {
			put(i, wanted[at])
			continue
		}
		rest = append(rest, i)
	}
	for _, i := range rest {
		put(i, slices.MinFunc(preferred(items[i].Name, n), func(a, b int) int { return cmp.Compare(loads[a], loads[b]) }))
	}
	fillEmpty(items, order, parts, n)
	return parts
}

// preferred returns the parts from 1 to n in the order in which an item prefers them.
func preferred(name string, n int) []int {
	parts, scores := make([]int, n), make([]uint64, n+1)
	for i := range parts {
		parts[i] = i + 1
		scores[i+1] = score(name, i+1)
	}
	slices.SortFunc(parts, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return parts
}

// score is a hash of a name and a part.
func score(name string, part int) uint64 {
	sum := sha256.Sum256(strconv.AppendInt([]byte(name+"\x00"), int64(part), 10))
	return binary.BigEndian.Uint64(sum[:8])
}

// fillEmpty moves the lightest items of parts with several items to empty parts.
func fillEmpty(items []Item, order, parts []int, n int) {
	count := make([]int, n+1)
	for _, part := range parts {
		count[part]++
	}
	for part := 1; part <= n && len(items) >= n; part++ {
		if count[part] > 0 {
			continue
		}
		for _, i := range slices.Backward(order) { // the lightest first
			if from := parts[i]; count[from] > 1 {
				count[from]--
				parts[i], count[part] = part, 1
				break
			}
		}
	}
}
