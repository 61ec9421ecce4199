// Package detection renders the scores of detectors.
package detection
