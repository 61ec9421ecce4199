// Package baseline is the file of a blessed run, rehearse.baseline.json, that
// later runs are held against.
package baseline
