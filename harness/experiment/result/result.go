// Package result is what an experiment found, as data: for every pair of variants and
// measure a verdict with its effect, interval and number. Those who render it need no
// agent and no harness.
package result
