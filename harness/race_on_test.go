//go:build race

package harness_test

// workers are how many there are in the one run of the shipped scenarios: the race
// detector makes it several times as long, and a second run shows it nothing new.
var workers = []int{8}
