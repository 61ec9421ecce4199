package plan

// cycles finds the cycles of a graph whose node i has edges to the nodes before[i]:
// one for each edge that leads back to a node on the way to it, so that without
// those edges there would be none. The edge is that from the last node to the
// first. It takes time linear in the graph and the cycles, and ends after
// maxProblems of them.
func cycles(before [][]int) [][]int {
	const (
		unseen = iota
		onTheWay
		left
	)
	state := make([]int8, len(before))
	next := make([]int, len(before)) // the edge of a node that is looked at next
	var found [][]int
	for root := range before {
		if state[root] != unseen {
			continue
		}
		way := []int{root} // not the goroutine's stack: a chain may have 10,000 nodes
		state[root] = onTheWay
		for len(way) > 0 && len(found) < maxProblems {
			node := way[len(way)-1]
			if next[node] == len(before[node]) {
				state[node] = left
				way = way[:len(way)-1]
				continue
			}
			to := before[node][next[node]]
			next[node]++
			switch state[to] {
			case unseen:
				state[to] = onTheWay
				way = append(way, to)
			case onTheWay:
				found = append(found, tail(way, to))
			}
		}
	}
	return found
}

// tail returns a copy of the end of a way from a node on.
func tail(way []int, from int) []int {
	i := len(way) - 1
	for way[i] != from {
		i--
	}
	return append([]int(nil), way[i:]...)
}
