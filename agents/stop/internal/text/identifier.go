package text

import "strings"

// glues are the characters that may join words to an identifier.
var glues = byteSet(`._/\@:=(`)

// tokenBytes are the ASCII characters of paths, names, versions and addresses.
var tokenBytes = byteSet(`._/\-:@#~+=%&$ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789`)

func byteSet(chars string) (set [256]bool) {
	for i := range len(chars) {
		set[chars[i]] = true
	}
	return set
}

// tokenEnd returns where the run of characters of an identifier ends that begins at
// s[i:], punctuation at its end aside.
func (r *Reader) tokenEnd(i int) int {
	in, s := &r.in, r.doc.Raw
	at := i
	for at < in.end {
		if tokenBytes[s[at]] {
			at++
			continue
		}
		if s[at] < 0x80 {
			break
		}
		c, n := decode(s, at)
		if sortOf(c) > accent {
			break
		}
		at += n
	}
	at = min(at, in.end)
	in.token = max(in.token, at)
	for at > i && strings.IndexByte(".:-@#~+=%&$_", s[at-1]) >= 0 {
		at--
	}
	return at
}

// identifier returns where the identifier ends that begins with the word s[i:at],
// 0 if it is text such as "and/or", "e.g." or "done.Next".
func (r *Reader) identifier(i, at int) int {
	in, s := &r.in, r.doc.Raw
	if s[at] == '(' {
		if s[at+1] == ')' {
			return at + 2
		}
		return 0
	}
	if strings.HasPrefix(s[at:in.end], "://") {
		return r.addressEnd(at + 3)
	}
	end := r.tokenEnd(i)
	if end < at { // emphasis or a character of zero width is within the word
		return 0
	}
	if end > at && strings.HasPrefix(s[end:in.end], "()") {
		return end + 2
	}
	if looksLikeCode(s[i:end]) {
		return end
	}
	return 0
}

// looksLikeCode reports whether a run of characters without space is a path, a file
// name, a version, an address or a name of a program.
func looksLikeCode(name string) bool {
	if strings.ContainsAny(name, `_\=`) || strings.Contains(name, "::") || strings.IndexByte(name, '@') > 0 {
		return true
	}
	slashes := strings.Count(name, "/")
	dots := dotted(name)
	return dots || slashes >= 3 || slashes > 0 && strings.HasSuffix(name, "/")
}

// dotted reports whether a full stop within name joins the parts of a file name, a
// version or an address, rather than ending a sentence or an abbreviation.
func dotted(name string) bool {
	for at := 0; ; {
		n := strings.IndexByte(name[at:], '.')
		if n < 0 {
			return false
		}
		at += n + 1
		part := 0
		for at+part < len(name) && wordByte(name[at+part]) {
			part++
		}
		if part == 0 {
			continue
		}
		first, before := name[at], byte(' ')
		if at >= 2 {
			before = name[at-2]
		}
		switch {
		case first <= '9': // 3.5, v1.2
			return true
		case before <= '9' && before >= '0' && n <= 2: // "2.deploy"
		case part == 1 || n == 1 && part <= 2 && at == 2: // "terminé.e", "e.g", "p.ex"
		case first >= 'a': // main.go
			return true
		case part <= 4 && before < 'a' && allUpper(name[at:at+part]): // MAIN.GO
			return true
		}
	}
}

func allUpper(s string) bool {
	for i := range len(s) {
		if s[i] >= 'a' {
			return false
		}
	}
	return true
}

// addressEnd returns where the address ends that goes on at s[i:].
func (r *Reader) addressEnd(i int) int {
	in, s := &r.in, r.doc.Raw
	at := i
	open := 0
	for at < in.end && s[at] > ' ' && strings.IndexByte("<>\"`|", s[at]) < 0 {
		if s[at] == '(' {
			open++
		}
		if s[at] == ')' {
			if open == 0 {
				break
			}
			open--
		}
		if s[at] == ']' {
			break
		}
		n := 1
		if s[at] >= 0x80 {
			var c rune
			if c, n = decode(s, at); sortOf(c) > accent {
				break
			}
		}
		at = min(at+n, in.end)
	}
	for at > i && strings.IndexByte(".,:;!?*_'", s[at-1]) >= 0 {
		at--
	}
	return at
}
