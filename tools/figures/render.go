package main

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchunit"

	"github.com/rehearse-dev/rehearse/internal/format"
)

const (
	// unknown is shown where nothing was measured.
	unknown = "unknown"
	// wide is the width of an interval, relative to its centre, above which the runs do not agree.
	wide = 0.2
)

func renderAll(pages []string) error {
	if len(pages) == 0 {
		return errors.New("name pages")
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return fmt.Errorf("read the page: %w", err)
		}
		all, err := readResults(page)
		if err != nil {
			return err
		}
		changed, err := render(page, string(text), all)
		if err != nil {
			return err
		}
		if err := os.WriteFile(page, []byte(changed), 0o644); err != nil { //nolint:gosec // it is committed
			return fmt.Errorf("write the page: %w", err)
		}
	}
	return nil
}

// render returns a page with the figures of results in its blocks.
func render(name, text string, all results) (string, error) {
	lines, blocks, err := parsePage(name, text)
	if err != nil {
		return "", err
	}
	for _, b := range slices.Backward(blocks) {
		lines = slices.Replace(lines, b.first+1, b.last, b.render(all)...)
	}
	return strings.Join(lines, "\n"), nil
}

// render returns the lines between the marks of a block.
func (b *block) render(all results) []string {
	most := 0
	for i := range b.rows {
		for _, m := range b.rows[i].metrics() {
			values, _ := all.of(m)
			most = max(most, len(values))
		}
	}
	lines := append([]string{""}, b.header...)
	for i := range b.rows {
		r := &b.rows[i]
		if len(b.columns) > 0 {
			r.renderSimulated(all)
		} else {
			r.renderMeasured(all, most)
		}
		lines = append(lines, "| "+strings.Join(r.cells, " | ")+" |")
	}
	return append(append(lines, ""), b.renderConditions(all)...)
}

// renderConditions returns a line for each machine and day of the results in a block, with the benchmarks if there are several.
func (b *block) renderConditions(all results) (lines []string) {
	runs, of := map[string]int{}, map[string][]string{}
	for i := range b.rows {
		for _, m := range b.rows[i].metrics() {
			_, where := all.of(m)
			for _, at := range slices.Compact(slices.Clone(where)) {
				n := 0
				for _, other := range where {
					if other == at {
						n++
					}
				}
				runs[at] = max(runs[at], n)
				if name := function(m.bench); !slices.Contains(of[at], name) {
					of[at] = append(of[at], name)
				}
			}
		}
	}
	for _, at := range slices.Sorted(maps.Keys(runs)) {
		line := strings.Replace(at, "Measured", "Simulated", 1)
		if len(b.columns) == 0 {
			line = fmt.Sprintf("%s; %s", at, format.Plural(runs[at], "run"))
		}
		if len(runs) > 1 {
			line += "; " + strings.Join(of[at], ", ")
		}
		lines = append(lines, line+".")
	}
	if len(lines) == 0 {
		return []string{"Not measured."}
	}
	return lines
}

func (r *row) renderSimulated(all results) {
	for i, m := range r.figures {
		r.cells[2+i] = unknown
		if values, _ := all.of(m); len(values) > 0 {
			r.cells[2+i] = rate(values[len(values)-1], m.unit)
		}
	}
}

// rate shows a share in percent, and a number of trials as a number.
func rate(v float64, unit string) string {
	if strings.Contains(unit, "trials") {
		return strconv.FormatFloat(math.Round(10*v)/10, 'f', -1, 64)
	}
	return strconv.FormatFloat(math.Round(1000*v)/10, 'f', -1, 64) + " %"
}

func (r *row) renderMeasured(all results, most int) {
	own, at := all.of(r.figures[0])
	r.cells[cellFloor], r.cells[cellRatio] = "", ""
	r.cells[cellFigure] = show(own, r.figures[0].unit, most)
	var ratios []float64
	if r.floor != nil {
		floor, floorAt := all.of(*r.floor)
		r.cells[cellFloor] = show(floor, r.floor.unit, most)
		if slices.Equal(at, floorAt) { // so they ran side by side
			for i := range own {
				ratios = append(ratios, own[i]/floor[i])
			}
		}
		r.cells[cellRatio] = show(ratios, "", most)
	}
	r.cells[cellTarget] = judge(r.cells[cellTarget], r.figures[0].unit, own, ratios)
}

// summary returns the median of runs with its 95 % interval, or with their range if they are too few.
func summary(values []float64) benchmath.Summary {
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds), 0.95)
	if math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		s.Lo, s.Hi = slices.Min(values), slices.Max(values)
	}
	return s
}

// show writes a median with its interval, with "~" if the runs do not agree, and their number if it is not that of the
// block.
func show(values []float64, unit string, most int) string {
	if len(values) == 0 {
		return unknown
	}
	s := summary(values)
	scale := benchunit.Scaler{Factor: 1}
	suffix := symbol(unit)
	if suffix != "" {
		scale = benchunit.CommonScale([]float64{s.Center}, benchunit.Decimal)
	}
	number := func(v float64) string { return digits(v / scale.Factor) }
	text := number(s.Center)
	if s.Lo != s.Hi {
		text += fmt.Sprintf(" (%s to %s)", number(s.Lo), number(s.Hi))
	}
	if s.Center != 0 && (s.Hi-s.Lo)/math.Abs(s.Center) > wide {
		text = "~ " + text
	}
	if suffix != "" {
		text += " " + scale.Prefix + suffix
	}
	if len(values) != most {
		text += fmt.Sprintf(", n = %d", len(values))
	}
	return text
}

// symbol returns how the tables write a unit of benchmarks, without its prefix: "s", "B", "B/s" or "/s"; "" is a plain number.
func symbol(unit string) string {
	numerator, denominator, _ := strings.Cut(unit, "/")
	text := ""
	switch {
	case strings.HasSuffix(numerator, "sec"):
		text = "s"
	case strings.HasSuffix(numerator, "B") || strings.HasPrefix(numerator, "B-"):
		text = "B"
	}
	if denominator == "s" {
		text += "/s"
	}
	return text
}

// digits writes a number with at least three significant digits.
func digits(v float64) string {
	decimals := 0
	for limit := 100.0; decimals < 3 && math.Abs(v) < limit; limit /= 10 {
		decimals++
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// target is what a figure, or with "×" its ratio to the floor, should reach. What follows the colon is generated.
var target = regexp.MustCompile(`^([≤≥]) ([0-9.]+) ?(×|ns|µs|ms|s|kB|MB|GB|MB/s|/s)?(?:: .*)?$`)

var prefixes = map[string]float64{
	"": 1, "×": 1, "ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "MB/s": 1e6, "/s": 1,
}

// judge returns a target with "reached" if the whole interval reaches it, "missed" if none of it does, and "unclear" otherwise.
func judge(cell, unit string, own, ratios []float64) string {
	parts := target.FindStringSubmatch(cell)
	if parts == nil {
		return cell
	}
	text, _, _ := strings.Cut(cell, ":")
	values := own
	if parts[3] == "×" {
		values = ratios
	}
	if len(values) == 0 {
		return text + ": " + unknown
	}
	limit, err := strconv.ParseFloat(parts[2], 64)
	if err != nil || parts[3] != "×" && symbol(unit) != strings.TrimLeft(parts[3], "nµmkMG") {
		return text + ": " + unknown
	}
	limit *= prefixes[parts[3]]
	s := summary(values)
	worst, best := s.Hi, s.Lo
	if parts[1] == "≥" { // then the same holds for the negative values
		worst, best, limit = -s.Lo, -s.Hi, -limit
	}
	switch {
	case worst <= limit:
		return text + ": reached"
	case best > limit:
		return text + ": missed"
	}
	return text + ": unclear"
}
