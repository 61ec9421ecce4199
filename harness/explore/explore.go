// Package explore drives a golden path along every way off it: it plans the
// perturbations, drives them, holds each run against the invariants, and shrinks
// what fails to the smallest perturbation.
package explore
