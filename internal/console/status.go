package console

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// The minimum time between two updates of a status line, on a terminal and in a log.
const (
	redrawEvery = 100 * time.Millisecond
	logEvery    = 10 * time.Second
)

// clearLine returns to the first column and erases the line.
const clearLine = "\r\x1b[K"

// StatusLine is a line about work in progress that is redrawn in place on a terminal. It is safe for
// concurrent use. It ignores errors of the writer, because they must not stop the work.
type StatusLine struct {
	out  io.Writer
	term Terminal
	now  func() time.Time

	mu     sync.Mutex
	drawn  time.Time
	dirty  bool // the line is visible
	paused bool
}

// NewStatusLine returns a status line on out. Now is the clock for the limit of updates.
func NewStatusLine(out io.Writer, term Terminal, now func() time.Time) *StatusLine {
	return &StatusLine{out: out, term: term, now: now, drawn: now()} // no line in a log for short work
}

// Update shows text and detail, at most ten times a second. In a log it prints text, at most every ten
// seconds.
func (s *StatusLine) Update(line func() (text, detail string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	switch {
	case s.term.Live && !s.dirty:
	case s.term.Live && now.Sub(s.drawn) < redrawEvery:
		return
	case !s.term.Live && now.Sub(s.drawn) < logEvery:
		return
	}
	text, detail := line()
	if s.term.Live {
		s.draw(text+detail, now)
		return
	}
	s.drawn = now
	fmt.Fprintln(s.out, text)
}

// Draw shows a line immediately, on a terminal.
func (s *StatusLine) Draw(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.term.Live {
		s.draw(line, s.now())
	}
}

func (s *StatusLine) draw(line string, now time.Time) {
	if s.paused {
		return
	}
	s.drawn, s.dirty = now, true
	// Some terminals wrap when the last column is written.
	fmt.Fprint(s.out, clearLine, Cut(line, s.term.Columns()-1))
}

// Print prints a permanent line in place of the status line.
func (s *StatusLine) Print(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	fmt.Fprintln(s.out, line)
}

// Pause removes the line and suspends redrawing until it is called with false.
func (s *StatusLine) Pause(paused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.paused = paused
}

// Clear removes the line.
func (s *StatusLine) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
}

func (s *StatusLine) erase() {
	if s.dirty {
		fmt.Fprint(s.out, clearLine)
		s.dirty = false
	}
}

// Cut truncates s to at most width columns.
func Cut(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	runes := []rune(s)
	for len(runes) > 0 && Width(string(runes)) > width-1 {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}
