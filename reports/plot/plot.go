// Package plot draws the pictures of the reports as SVG.
package plot
