// Package page renders a run as one self-contained HTML file.
package page
