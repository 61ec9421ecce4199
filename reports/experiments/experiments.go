// Package experiments renders the result of an experiment: for a terminal, as Markdown,
// JSON and one HTML file.
package experiments
