// Package score turns predictions beside labels into counts, rates with intervals, curves and comparisons, in constant memory.
package score
