// Package plot draws the plots of reports as SVG for a web page: they scale, their text has the
// font of the page, and their colours are classes of its style sheet, for light, dark and print.
//
// Each function is pure: the same data give the same bytes. Values that are not finite are left
// out, foreign text is escaped and cut, and the number of marks is limited, so that a plot stays
// below about 50 kB.
package plot

import (
	"bytes"
	_ "embed"
	"math"

	"github.com/rehearse-dev/rehearse/internal/htmlpage"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

//go:embed file.css
var fileStyle string

// File returns a plot as an SVG file with its own style sheet; nil if the plot has no SVG.
func File(p doc.Plot) []byte {
	if p.SVG == nil {
		return nil
	}
	start := bytes.IndexByte(p.SVG, '>') + 1
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	b.Write(p.SVG[:start])
	b.WriteString("<style>\n" + fileStyle + htmlpage.Plots + "</style>")
	b.Write(p.SVG[start:])
	b.WriteByte('\n')
	return b.Bytes()
}

// The widths of pictures: one that is readable on a phone, and a wide one.
const (
	narrow = 420
	wide   = 720
)

// finite reports whether all values can be drawn.
func finite(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.Abs(v) > 1e300 {
			return false
		}
	}
	return true
}
