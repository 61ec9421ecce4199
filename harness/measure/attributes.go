package measure

// Int returns the whole number that an attribute of an event holds: an int as it was
// emitted, or a float64 as it was read from a recording.
func Int(attr any) int {
	switch n := attr.(type) {
	case int:
		return n
	case float64:
		return int(n)
	default:
		return 0
	}
}

// Increment adds 1 to the count of key, and makes the map if need be.
func Increment(counts *map[string]int, key string) {
	if *counts == nil {
		*counts = map[string]int{}
	}
	(*counts)[key]++
}

// Total returns the sum of counts.
func Total(counts map[string]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}
