package text

import "strings"

// tag skips a tag or a comment, or masks an address in angle brackets.
func (r *Reader) tag(i int) int {
	in, s := &r.in, r.doc.Raw
	rest := s[i:in.end]
	if strings.HasPrefix(rest, "<!--") {
		if end := r.closer(commentMark, "-->", i+4, in.end); end >= 0 {
			return end + 3
		}
		return i + 4
	}
	if n := tagLen(rest); n > 0 {
		return i + n
	}
	in.gap = in.gap&^AfterLine | AfterGap
	if strings.HasPrefix(rest, "<http") {
		return r.mask(i, r.addressEnd(i+1))
	}
	return i + 1
}

// linkTarget skips the target of a link behind its text.
func (r *Reader) linkTarget(i int) int {
	in, s := &r.in, r.doc.Raw
	if i+1 >= in.end {
		return i + 1
	}
	switch s[i+1] {
	case '(':
		if end := r.targetEnd(i + 2); end > 0 {
			return end
		}
	case '[':
		if end := r.closer(bracketMark, "]", i+2, i+maxQuotation); end >= 0 {
			return end + 1
		}
	default:
		in.gap = in.gap&^AfterLine | AfterGap
	}
	return i + 1
}

// targetEnd returns the offset behind the target of a link that begins at s[i:], 0 if
// there is none. Targets hold one level of parentheses at most.
func (r *Reader) targetEnd(i int) int {
	end := r.closer(parenMark, ")", i, i+2000)
	if end < 0 {
		return 0
	}
	if inner := strings.IndexByte(r.doc.Raw[i:end], '('); inner >= 0 && end+1 < r.in.end && r.doc.Raw[end+1] == ')' {
		end++
	}
	return end + 1
}

// image masks an image with its text.
func (r *Reader) image(i int) int {
	end := r.closer(bracketMark, "]", i+2, i+maxQuotation)
	if end < 0 {
		return i + 2
	}
	end++
	if end < r.in.end && r.doc.Raw[end] == '(' {
		end = max(end, r.targetEnd(end+1))
	}
	return r.mask(i, end)
}

// entity skips a character reference such as "&nbsp;".
func (r *Reader) entity(i int) int {
	in, s := &r.in, r.doc.Raw
	end := min(in.end, i+10)
	semicolon := strings.IndexByte(s[i:end], ';')
	if semicolon < 2 {
		in.gap = in.gap&^AfterLine | AfterGap
		return i + 1
	}
	name := s[i+1 : i+semicolon]
	for k := range len(name) {
		if !wordByte(name[k]) && name[k] != '#' {
			return i + 1
		}
	}
	switch name {
	case "#39", "#x27", "apos", "rsquo", "#8217":
		in.gap |= Linked
	}
	return i + semicolon + 1
}

// sigil reads a character that begins a path, an option's value or a variable:
// "/etc", "~/x", "$HOME", "@name"; or text that is struck out.
func (r *Reader) sigil(c byte, i int) int {
	in, s := &r.in, r.doc.Raw
	next := i + 1
	if c == '~' && next < in.end && s[next] == '~' {
		return r.struckOut(i)
	}
	starts := i == in.line || spaceLen(s, i-1) > 0 || s[i-1] == '('
	if starts && next < in.end && (wordByte(s[next]) || c == '~' && s[next] == '/') && (c != '~' || s[next] == '/') {
		if end := r.tokenEnd(i); end > i+1 && (c != '$' || s[next] > '9') {
			return r.mask(i, end)
		}
	}
	in.gap = in.gap&^AfterLine | AfterGap
	return next
}

// struckOut masks "~~text~~": its author took it back.
func (r *Reader) struckOut(i int) int {
	at := i
	for at < r.in.end && r.doc.Raw[at] == '~' {
		at++
	}
	if end := r.closer(strikeMark, "~~", at, at+maxQuotation); end > at && at-i == 2 {
		return r.mask(i, end+2)
	}
	return at
}
