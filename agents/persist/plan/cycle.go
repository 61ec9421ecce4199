package plan

import "slices"

// cycles returns the cycles of a graph whose node i has edges to the nodes before[i]: one for each
// back edge of a depth-first search, from its last node to its first. It returns at most
// maxProblems cycles, in time linear in the size of the graph and the cycles.
func cycles(before [][]int) [][]int {
	const (
		unseen = iota
		onPath
		finished
	)
	state := make([]int8, len(before))
	next := make([]int, len(before)) // the next edge of each node
	var found [][]int
	for root := range before {
		if state[root] != unseen {
			continue
		}
		path := []int{root} // not recursive: a chain may have 10,000 nodes
		state[root] = onPath
		for len(path) > 0 && len(found) < maxProblems {
			node := path[len(path)-1]
			if next[node] == len(before[node]) {
				state[node] = finished
				path = path[:len(path)-1]
				continue
			}
			to := before[node][next[node]]
			next[node]++
			switch state[to] {
			case unseen:
				state[to] = onPath
				path = append(path, to)
			case onPath:
				found = append(found, slices.Clone(path[slices.Index(path, to):]))
			}
		}
	}
	return found
}
