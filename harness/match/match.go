// Package match has Gomega matchers for the results of rehearsals, with failure messages
// that show what happened.
package match
