// Package judge scores answers: by deterministic rules first, and by a language model
// whose agreement with labels was measured before its verdicts may gate.
package judge
