package gate

import (
	"maps"
	"slices"
)

// Kinds are the kinds of agents that invariants come with, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }
