// Package seed derives random numbers from numbers, with the steps of SplitMix64 (Steele,
// Lea and Flood: Fast Splittable Pseudorandom Number Generators, 2014).
package seed

// Gamma is the increment of the generator's state.
const Gamma = 0x9e3779b97f4a7c15

// Mix returns the output of the generator for a state. Different states have different
// outputs.
func Mix(state uint64) uint64 {
	z := state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
