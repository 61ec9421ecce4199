// Package experiment compares variants of an agent, such as two prompts, on the same
// scenarios: which is better, by how much, how surely, and at what cost.
package experiment
