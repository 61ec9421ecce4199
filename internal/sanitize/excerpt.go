package sanitize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// The places of library code in stack traces of Python, Node and Go: frames elsewhere are those of
// the user's program.
var libraries = lazyregexp.New(`site-packages/|dist-packages/|/lib(?:64)?/python[0-9.]+/|<frozen |<string>|` +
	`node_modules/|node:internal|\(node:|<anonymous>|` +
	`/go/src/|/libexec/src/|/go/pkg/mod/|/toolchain@|/vendor/|_testmain\.go`)

// frame matches the line of a stack trace that names a place in a file.
var frame = lazyregexp.New(`^\s*File ".*", line [0-9]+|^\s+at .*:[0-9]+:[0-9]+\)?|^\s+\S.*\.go:[0-9]+(?: \+0x[0-9a-f]+)?$`)

// goroutine matches the head of a goroutine; the first one is that of the panic.
var goroutine = lazyregexp.New(`^goroutine [0-9]+ .*\[.*\]:$`)

// failure matches the line that names an error: "KeyError: 'x'", "panic: …", "[cause]: Error: …".
var failure = lazyregexp.New(`^\s*(?:\[cause\]: |Uncaught |Caused by: )?` +
	`(?:[\w.]*(?:Error|Exception|Interrupt|Exit|Warning)(?: \[\w+\])?:|[\w.]+Error$|panic: |fatal error: |fatal: |(?i:error|fatal)[:!] )`)

// The weights of lines in an excerpt.
const (
	context = iota + 1 // lines near both ends, which are the rest
	own                // a frame of the user's program, with its code
	ends               // the first and the last lines
	named              // a line that names an error
)

// The first and the last lines that an excerpt has in any case.
const (
	firstLines = 2
	lastLines  = 3
)

// Excerpt returns at most that many of the lines, with notes in place of the others. It prefers the lines that
// name an error, the first and the last ones, and the frames of the user's program in a stack trace of
// Python, Node or Go.
func Excerpt(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	kept, shown := make([]bool, len(lines)), 1 // a note for all
	for _, i := range byWeight(lines) {
		if more := growth(kept, i); noted(lines[i]) == 0 && shown+more <= most {
			kept[i], shown = true, shown+more
		}
	}
	var out []string
	for i := 0; i < len(lines); i++ {
		if kept[i] {
			out = append(out, lines[i])
			continue
		}
		from, left := i, 0
		for ; i < len(lines) && !kept[i]; i++ {
			left += max(noted(lines[i]), 1)
		}
		if i--; left > 1 {
			out = append(out, fmt.Sprintf(note, left))
		} else {
			out = append(out, lines[from])
		}
	}
	return out
}

// note takes the place of lines.
const note = "… %d lines are left out here …"

// noted returns the number of lines for which line is a note, of an earlier excerpt; 0 if it is not a note.
func noted(line string) int {
	var n int
	if _, err := fmt.Sscanf(line, note, &n); err != nil {
		return 0
	}
	return n
}

// growth returns how many lines longer an excerpt gets with line i, which may split the gap that it is in, or
// fill it.
func growth(kept []bool, i int) int {
	more := 2
	if i == 0 || kept[i-1] {
		more--
	}
	if i == len(kept)-1 || kept[i+1] {
		more--
	}
	return more
}

// byWeight returns the indexes of lines, the most important ones first. Among frames, those nearest to
// the error come first: the last ones in Python, and the first ones elsewhere.
func byWeight(lines []string) []int {
	innermostLast := slices.ContainsFunc(lines, func(s string) bool { return strings.Contains(s, "(most recent call last)") })
	weights := weigh(lines)
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	distance := func(i int) int { // from what matters, among lines of the same weight
		switch {
		case weights[i] == context:
			return min(i, len(lines)-1-i)
		case weights[i] < ends && !innermostLast:
			return i
		}
		return len(lines) - 1 - i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if weights[a] != weights[b] {
			return weights[b] - weights[a]
		}
		return distance(a) - distance(b)
	})
	return order
}

func weigh(lines []string) []int {
	weights := make([]int, len(lines))
	raise := func(i, weight int) {
		if i >= 0 && i < len(lines) {
			weights[i] = max(weights[i], weight)
		}
	}
	goroutines := 0
	for i, line := range lines {
		raise(i, context)
		foreign := libraries().MatchString(line)
		switch {
		case failure().MatchString(line):
			raise(i, named)
		case !foreign && (i < firstLines || i >= len(lines)-lastLines):
			raise(i, ends)
		case goroutine().MatchString(line):
			goroutines++
		}
		if foreign || goroutines > 1 || !frame().MatchString(line) {
			continue
		}
		raise(i, own)
		switch {
		case strings.Contains(line, ".go:"): // the function is on the line above
			raise(i-1, own)
		case strings.Contains(line, `", line `): // its code is below
			raise(i+1, own)
		}
	}
	return weights
}
