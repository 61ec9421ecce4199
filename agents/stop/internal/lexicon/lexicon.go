// Package lexicon finds the phrases of word lists in a text that was read, in one
// pass and without allocation.
package lexicon
