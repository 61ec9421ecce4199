package measure

// Increment adds 1 to the count of key, in a map that it creates if needed.
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
