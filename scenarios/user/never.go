package user

import "regexp/syntax"

// neverMatches reports whether a valid regular expression matches no text at all: it has an empty
// class of characters, or characters before the beginning or after the end of the text.
func neverMatches(expr string) bool {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return false
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return false
	}
	n := never{prog: prog, seen: map[place]bool{}}
	return !n.matches(place{pc: uint32(prog.Start)})
}

// place is an instruction with what is known about the text before and after it.
type place struct {
	pc uint32
	// inside is true after a character, ended after the assertion of the end of the text.
	inside, ended bool
}

// never searches the instructions of a regular expression for a way to its end.
type never struct {
	prog *syntax.Prog
	seen map[place]bool
}

func (n *never) matches(p place) bool {
	if n.seen[p] {
		return false
	}
	n.seen[p] = true
	in := &n.prog.Inst[p.pc]
	next := place{in.Out, p.inside, p.ended}
	switch in.Op {
	case syntax.InstMatch:
		return true
	case syntax.InstFail:
		return false
	case syntax.InstAlt, syntax.InstAltMatch:
		return n.matches(next) || n.matches(place{in.Arg, p.inside, p.ended})
	case syntax.InstEmptyWidth:
		assertion := syntax.EmptyOp(in.Arg)
		if assertion&syntax.EmptyBeginText != 0 && p.inside {
			return false
		}
		next.ended = p.ended || assertion&syntax.EmptyEndText != 0
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		if p.ended || in.Op == syntax.InstRune && len(in.Rune) == 0 {
			return false
		}
		next.inside = true
	default: // a capture, or nothing
	}
	return n.matches(next)
}
