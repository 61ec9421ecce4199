package page

import (
	"io"

	"github.com/rehearse-dev/rehearse/harness/gate"
)

// class is the priority of the details of a trial when there is not enough room.
type class int

const (
	failing class = iota // did not pass
	first                // the first of its scenario
	further
	classes
)

func classOf(v gate.Verdict, isFirst bool) class {
	switch {
	case v == gate.Fail || v == gate.Error:
		return failing
	case isFirst:
		return first
	default:
		return further
	}
}

// piece is a rendered part in the spool.
type piece struct {
	at      int64
	size    int
	class   class
	verdict gate.Verdict
	shown   bool // it goes into the page
}

// spool keeps rendered pieces until the room for them is known.
type spool struct {
	file  Spool
	end   int64
	limit int
	used  [classes]int // bytes by class
}

// wants reports whether a piece of a class may still fit: pieces are chosen by class and in
// order, so all earlier ones are known.
func (s *spool) wants(c class) bool {
	used := 0
	for _, n := range s.used[:c+1] {
		used += n
	}
	return used < s.limit
}

func (s *spool) add(text []byte, c class) (piece, error) {
	p := piece{at: s.end, size: len(text), class: c}
	n, err := s.file.Write(text)
	s.end += int64(n)
	s.used[c] += n
	return p, err
}

func (s *spool) copy(w io.Writer, p piece) error {
	_, err := io.Copy(w, io.NewSectionReader(s.file, p.at, int64(p.size)))
	return err
}

// choose marks the pieces that fit, by class and in order. A piece that is too large does not
// exclude smaller ones after it.
func choose(pieces []*piece, room int) {
	for c := range classes {
		for _, p := range pieces {
			if p.class == c && p.size <= room {
				p.shown = true
				room -= p.size
			}
		}
	}
}
