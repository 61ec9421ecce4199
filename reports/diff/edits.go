package diff

import "slices"

// hunk is a part of two sequences: equal elements, a[a:same], and elements a[same:aEnd] of the first
// that b[b:bEnd] of the second replace.
type hunk struct{ a, same, aEnd, b, bEnd int }

// hunks compares two sequences and returns all their parts in order. More than maxEdits edits are
// returned as one replacement.
func hunks[T comparable](a, b []T) (list []hunk) {
	current, x, y := hunk{}, 0, 0 // a[x] and b[y] follow the last match
	for _, m := range append(matches(a, b), match{len(a), len(b)}) {
		if m.a > x || m.b > y || m.a == len(a) {
			current.same, current.aEnd, current.b, current.bEnd = x, m.a, y, m.b
			list = append(list, current)
			current = hunk{a: m.a}
		}
		x, y = m.a+1, m.b+1
	}
	return list
}

// matches returns the pairs of equal elements that a comparison keeps, in order.
func matches[T comparable](a, b []T) (list []match) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		list = append(list, match{head, head})
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for _, m := range longest(a[head:len(a)-tail], b[head:len(b)-tail]) {
		list = append(list, match{head + m.a, head + m.b})
	}
	for ; tail > 0; tail-- {
		list = append(list, match{len(a) - tail, len(b) - tail})
	}
	return list
}

// match is a pair of equal elements.
type match struct{ a, b int }

// longest returns the pairs of a longest common subsequence, by Myers' algorithm: the furthest
// reaching paths with 0, 1, 2, ... edits. It returns none if there are more than maxEdits.
func longest[T comparable](a, b []T) []match {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	var trace [][]int // the furthest x of each diagonal -d..d, after d edits
	for d := 0; d <= min(len(a)+len(b), maxEdits); d++ {
		row := make([]int, 2*d+1)
		for k := -d; k <= d; k += 2 {
			x := 0
			if d > 0 {
				x = step(trace[d-1], d, k)
			}
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			row[k+d] = x
			if x >= len(a) && y >= len(b) {
				return backtrack(append(trace, row), len(a), len(b))
			}
		}
		trace = append(trace, row)
	}
	return nil
}

// step returns where the d-th edit on diagonal k begins to follow equal elements, given the row
// before.
func step(before []int, d, k int) int {
	at := func(k int) int { return before[k+d-1] }
	if k == -d || (k != d && at(k-1) < at(k+1)) {
		return at(k + 1) // an element of b is extra
	}
	return at(k-1) + 1 // an element of a is missing
}

// backtrack collects the equal elements along the path that ends at x, y.
func backtrack(trace [][]int, x, y int) []match {
	var list []match
	for d := len(trace) - 1; d >= 0; d-- {
		k, from := x-y, 0
		if d > 0 {
			from = step(trace[d-1], d, k)
		}
		for x > from {
			x, y = x-1, y-1
			list = append(list, match{x, y})
		}
		if d > 0 { // undo the edit
			if before := trace[d-1]; k == -d || (k != d && before[k-1+d-1] < before[k+1+d-1]) {
				y--
			} else {
				x--
			}
		}
	}
	slices.Reverse(list)
	return list
}
