package sanitize

import "unicode/utf8"

// Cut returns s with at most limit characters (0: no limit). A shortened text ends in "…".
func Cut(s string, limit int) string {
	if limit <= 0 || len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := 0
	for i := range s {
		if runes++; runes == limit {
			return s[:i] + "…"
		}
	}
	return s
}

// Shorten returns s, or its first limit bytes with "…". It does not split a character.
func Shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return Prefix(s, limit) + "…"
}

// Prefix returns the first limit bytes of s, or a few less, so that it does not split a character.
func Prefix[T ~string | ~[]byte](s T, limit int) T {
	if len(s) <= limit {
		return s
	}
	end := max(limit, 0)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// Suffix returns the last limit bytes of s, or a few less, so that it does not split a character.
func Suffix(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	begin := len(s) - max(limit, 0)
	for begin < len(s) && !utf8.RuneStart(s[begin]) {
		begin++
	}
	return s[begin:]
}
