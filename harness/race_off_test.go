//go:build !race

package harness_test

// workers are how many there are in each run of the shipped scenarios.
var workers = []int{1, 8}
