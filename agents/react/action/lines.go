package action

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/clock"
)

// sign is a pattern of lines.
type sign struct {
	name string // printed before the line; may be empty
	// needles are lower-case ASCII texts, at least one of which is in each matching line; nil if
	// unknown. Searching them first is far faster than the expression.
	needles []string
	match   func(line string) bool
}

func newSign(name string, re *regexp.Regexp) sign {
	parsed, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return sign{name: name, match: re.MatchString}
	}
	return sign{name: name, needles: required(parsed), match: re.MatchString}
}

// required returns texts of which each match of an expression contains at least one.
func required(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return needle(strings.ToLower(string(re.Rune)))
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if r := required(sub); r != nil && (best == nil || shortest(r) > shortest(best)) {
				best = r
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			r := required(sub)
			if r == nil {
				return nil
			}
			all = append(all, r...)
		}
		return all
	default:
	}
	return nil
}

// needle returns a text as needles, if it is ASCII.
func needle(text string) []string {
	if strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return nil
	}
	return []string{text}
}

func shortest(all []string) int {
	n := len(all[0])
	for _, s := range all {
		n = min(n, len(s))
	}
	return n
}

// small lowers the case of a text for needles. The long s is the only character that an
// expression treats as an ASCII letter and strings.ToLower does not.
func small(text string) string {
	return strings.ReplaceAll(strings.ToLower(text), "ſ", "s")
}

// maybe reports whether a text, in lower case, can have a line with the sign.
func (s sign) maybe(text string) bool {
	return s.needles == nil || slices.ContainsFunc(s.needles, func(n string) bool { return strings.Contains(text, n) })
}

// findings are lines with their positions, up to the limit, and their total number.
type findings struct {
	lines []string
	total int
}

func (f *findings) add(name string, line int, text string) {
	if f.total++; f.total <= shown {
		f.lines = append(f.lines, at(name, line, text))
	}
}

// lines collects the lines of texts with signs. It ends with the context, because an expression may be
// slow.
func (w *work) lines(texts []text, signs []sign) (findings, error) {
	var all findings
	for _, t := range texts {
		low := small(string(t.data))
		possible := slices.DeleteFunc(slices.Clone(signs), func(s sign) bool { return !s.maybe(low) })
		if len(possible) == 0 {
			continue
		}
		lowLines := split([]byte(low))
		for i, line := range t.lines() {
			if i%256 == 0 {
				if err := clock.Err(w.ctx); err != nil {
					return findings{}, err
				}
			}
			for _, s := range possible {
				if s.maybe(lowLines[i]) && s.match(line) {
					all.add(t.name, i+1, s.shown(line))
				}
			}
		}
	}
	return all, nil
}

func (s sign) shown(line string) string {
	if s.name == "" {
		return line
	}
	return "[" + s.name + "] " + strings.TrimSpace(line)
}
