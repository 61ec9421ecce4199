package diff

import "strconv"

// limited folds long runs of equal lines and limits the number of lines.
func limited(d Diff) Diff {
	d.Lines = fold(d.Lines)
	if more := len(d.Lines) - maxLines; more > 0 {
		d.Lines = append(d.Lines[:maxLines:maxLines], gap(count(more, "more line")))
		d.Shortened = true
	}
	return d
}

// fold replaces equal lines that are far from a difference by a note. It returns nil for equal lines
// only.
func fold(lines []Line) []Line {
	far := distances(lines)
	var out []Line
	changed := false
	for i := 0; i < len(lines); {
		changed = changed || lines[i].Kind != Same
		end := i
		for end < len(lines) && far[end] > context && !lines[end].around {
			end++
		}
		if end-i > 1 { // a note instead of one line saves nothing
			out = append(out, gap(count(end-i, "equal line")))
			i = end
			continue
		}
		out = append(out, lines[i])
		i++
	}
	if !changed {
		return nil
	}
	return out
}

// distances returns the number of lines from each line to the next difference, at most context+1.
func distances(lines []Line) []int {
	far := make([]int, len(lines))
	pass := func(i, from int) int {
		if lines[i].Kind != Same {
			from = 0
		} else {
			from = min(from+1, context+1)
		}
		far[i] = min(far[i], from)
		return from
	}
	for i := range far {
		far[i] = context + 1
	}
	last := context + 1
	for i := range lines {
		last = pass(i, last)
	}
	last = context + 1
	for i := len(lines) - 1; i >= 0; i-- {
		last = pass(i, last)
	}
	return far
}

// count returns a number with its noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
