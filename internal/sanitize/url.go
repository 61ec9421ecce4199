package sanitize

import "strings"

// hidden replaces the parts that MaskURL removes.
const hidden = "***"

// MaskURL removes the parts of a URL that may be secret: the user, the query and the fragment. The URL may
// be invalid; MaskURL then removes more if the extent of a secret is unclear.
func MaskURL(raw string) string {
	at, tail := strings.LastIndexByte(raw, '@'), strings.IndexAny(raw, "?#")
	switch {
	case at >= 0 && tail >= 0 && tail < at: // a password with a ?, or a query with an @
		return hidden
	case at >= 0 && tail >= 0:
		return hidden + raw[at:tail+1] + hidden
	case at >= 0:
		return hidden + raw[at:]
	case tail >= 0:
		return raw[:tail+1] + hidden
	}
	return raw
}
