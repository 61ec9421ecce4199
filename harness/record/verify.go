package record

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Report is the result of Verify.
type Report struct {
	// Lines is the number of lines.
	Lines int
	// Hash is the hash of the last line. A copy of it proves that a recording was not
	// rewritten as a whole, which the chain alone cannot show.
	Hash string
	// Problems are sorted by line, at most maxProblems of them. An intact recording has
	// none.
	Problems []Problem
	// More counts the problems that were found beyond Problems.
	More int
	// Altered is true if a line was changed, removed, inserted or reordered. It is false if
	// only the end is missing, as after a killed process.
	Altered bool
}

// maxProblems limits Report.Problems: every line of a hostile file can be broken.
const maxProblems = 100

// Verify recomputes the hash chain and names the lines that were changed,
// removed, inserted or reordered. The error is an error of reading r.
//
// It checks whether the hash of a line, and its number (seq), follow from the previous line.
// A changed line has the right number and a hash that does not follow; after a removed line a
// number is missing; an inserted line has the number of another line; a moved line has a
// number that was expected earlier or later. A line that was changed together with its hash
// cannot be distinguished from a change of the line after it, so that message names both.
func Verify(r io.Reader) (Report, error) {
	in := newLines(r)
	v := verifier{sha: newChain()}
	v.top = link{hash: genesis}
	v.last = v.top
	kind := ""
	for {
		text, wrong, err := nextLine(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return v.report(in.Line()), fmt.Errorf("verifying the recording after line %d: %w", in.Line(), err)
		}
		line, ok := stored{}, false
		if wrong == "" {
			line, ok = parse(text)
		}
		switch {
		case wrong == tornLine:
			v.add(in.Line(), wrong)
		case wrong != "":
			v.problem(in.Line(), "%s", wrong)
		case !ok:
			v.garbled(in.Line())
		default:
			if kind == kindClose {
				v.problem(in.Line(), "there is a line after the close line")
			}
			kind = line.kind
			v.check(in.Line(), line)
		}
	}
	v.missing()
	if kind != kindClose {
		v.add(in.Line(), "the last line is not a close line: the run was torn off, or lines were removed from the end")
	}
	return v.report(in.Line()), nil
}

// link is a line that the next one may follow.
type link struct {
	hash string // as stored
	real string // as computed, if different
	seq  int
}

// gap is a range of missing numbers, which may still follow.
type gap struct{ from, to, at int }

type verifier struct {
	sha      chain
	top      link // the line with the highest number so far
	last     link // the previous line
	gaps     []gap
	problems []Problem
	more     int
	altered  bool
}

// problem reports an alteration.
func (v *verifier) problem(line int, format string, args ...any) {
	v.altered = true
	if len(v.problems) >= maxProblems {
		v.more++
		return
	}
	v.add(line, fmt.Sprintf(format, args...))
}

func (v *verifier) add(line int, message string) {
	v.problems = append(v.problems, Problem{Line: line, Message: message})
}

// hash returns the hash of a line that follows a line with the hash prev.
func (v *verifier) hash(prev string, body []byte) string {
	copy(v.sha.prev[:], prev)
	return string(v.sha.next(body))
}

// follows returns the line that this one follows: the one with the highest number or the
// previous one, each by its stored or its computed hash.
func (v *verifier) follows(line stored) (after link, ok bool) {
	for _, l := range [...]link{v.top, v.last} {
		if string(line.hash) == v.hash(l.hash, line.body) {
			return l, true
		}
		if l.real != "" && string(line.hash) == v.hash(l.real, line.body) {
			return l, true
		}
	}
	return v.top, false
}

func (v *verifier) check(at int, line stored) {
	after, linked := v.follows(line)
	if linked && line.seq != after.seq+1 {
		v.problem(at, "line %d was changed: its number is %d in place of %d", at, line.seq, after.seq+1)
		line.seq = after.seq + 1
	}
	self := link{hash: string(line.hash), seq: line.seq}
	if !linked {
		self.real = v.hash(after.hash, line.body)
	}
	switch {
	case line.seq == v.top.seq+1:
		if !linked && line.seq == 1 {
			v.problem(at, "line %d was changed", at)
		} else if !linked {
			v.problem(at, "line %d was changed, or line %d was changed together with its hash", at, at-1)
		}
		v.top = self
	case line.seq > v.top.seq+1:
		v.gaps = append(v.gaps, gap{from: v.top.seq + 1, to: line.seq - 1, at: at})
		v.top = self
	case v.take(line.seq):
		if !linked {
			v.problem(at, "lines were reordered: line %d was moved behind line %d", line.seq, v.top.seq)
		}
	default:
		v.problem(at, "line %d was inserted: its number %d is already taken", at, line.seq)
	}
	v.last = self
}

// garbled handles an invalid line in place of the expected one.
func (v *verifier) garbled(at int) {
	v.problem(at, "line %d was changed: it is not a line of a recording", at)
	v.top = link{seq: v.top.seq + 1}
	v.last = v.top
}

// take removes a number from the gaps, if it is in one.
func (v *verifier) take(seq int) bool {
	for i, g := range v.gaps {
		if seq < g.from || seq > g.to {
			continue
		}
		v.gaps = slices.Delete(v.gaps, i, i+1)
		if seq < g.to {
			v.gaps = slices.Insert(v.gaps, i, gap{from: seq + 1, to: g.to, at: g.at})
		}
		if seq > g.from {
			v.gaps = slices.Insert(v.gaps, i, gap{from: g.from, to: seq - 1, at: g.at})
		}
		return true
	}
	return false
}

// missing reports the numbers that did not follow.
func (v *verifier) missing() {
	for _, g := range v.gaps {
		if g.from == g.to {
			v.problem(g.at, "line %d was removed", g.from)
		} else {
			v.problem(g.at, "lines %d to %d were removed", g.from, g.to)
		}
	}
}

func (v *verifier) report(lines int) Report {
	slices.SortStableFunc(v.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return Report{Lines: lines, Hash: v.last.hash, Problems: v.problems, More: v.more, Altered: v.altered}
}
