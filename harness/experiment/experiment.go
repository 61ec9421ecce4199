// Package experiment compares variants of an agent, such as two prompts, on the same
// scenarios: which is better, with effect sizes, confidence intervals and cost.
package experiment

// schema identifies the format of experiment files.
const schema = "rehearse.experiment/1"
