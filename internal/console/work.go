package console

import (
	"math"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/format"
)

// Work is how far work is that consists of equal parts.
type Work struct {
	// Text describes what is done, such as "21/54 trials, 3 not passed".
	Text string
	// Done is the number of completed parts out of Total.
	Done, Total int
	// Before is the number of parts that an earlier process completed, which took no time.
	Before int
	// Elapsed is the time since the work began.
	Elapsed time.Duration
	// Share is the share of the time of all parts that is done, by the times of an earlier run; 0 if there is none.
	Share float64
}

// barWidth is the width of a bar without its brackets.
const barWidth = 20

// Line returns a status line: on a terminal with room a bar, then the text, the elapsed time, and an
// estimate of the time that is left.
func (w Work) Line(term Terminal) string {
	text := w.Text
	if w.Elapsed >= time.Second {
		text += ", " + format.Seconds(math.Floor(w.Elapsed.Seconds()))
	}
	if left, ok := w.left(); ok {
		text += ", about " + format.Seconds(left.Seconds()) + " left"
	}
	if term.Live && term.Columns()-1 >= barWidth+2+Width(text)+10 {
		return w.bar() + " " + text
	}
	return text
}

// left estimates how long the parts that are left take, from the mean of those that were completed. It
// needs three seconds, and either a share of the time or five parts and a tenth of all, because the first ones
// may be the slow ones. It is not more precise than it can be.
func (w Work) left() (time.Duration, bool) {
	const leastTime, leastParts, leastShare = 3 * time.Second, 5, 0.1
	if w.Elapsed < leastTime || w.Done >= w.Total {
		return 0, false
	}
	if w.Share >= leastShare {
		return Approximate(time.Duration(float64(w.Elapsed) / w.Share * max(0, 1-w.Share))), true
	}
	done := w.Done - w.Before
	if w.Share > 0 || done < leastParts || float64(done) < leastShare*float64(w.Total-w.Before) {
		return 0, false
	}
	return Approximate(time.Duration(float64(w.Elapsed) / float64(done) * float64(w.Total-w.Done))), true
}

// Approximate rounds an estimate: to seconds, and to ten of them above a minute.
func Approximate(d time.Duration) time.Duration {
	step := time.Second
	if d > time.Minute {
		step = 10 * time.Second
	}
	return max(d.Round(step), step)
}

// bar draws the share of what is done, in characters that every terminal has.
func (w Work) bar() string {
	full := 0
	if w.Total > 0 {
		full = min(w.Done*barWidth/w.Total, barWidth)
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", barWidth-full) + "]"
}
