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
	at   int64
	size int
}

// spool keeps rendered pieces until the page is written.
type spool struct {
	file Spool
	end  int64
}

func (s *spool) add(text []byte) (piece, error) {
	p := piece{at: s.end, size: len(text)}
	n, err := s.file.Write(text)
	s.end += int64(n)
	return p, err
}

func (s *spool) copy(w io.Writer, p piece) error {
	_, err := io.Copy(w, io.NewSectionReader(s.file, p.at, int64(p.size)))
	return err
}

// room is the share of the page, in per cent, up to which trials of each class are added: some is
// left for failures that come late, and for the list of scenarios.
var room = [classes]int{failing: 75, first: 60, further: 30}

// wants reports whether there is room for a trial of a class.
func (b *Builder) wants(c class) bool {
	return int(b.spool.end)+b.pack.pending() < b.limit/100*room[c]
}
