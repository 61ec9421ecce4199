package sanitize

import "strings"

// hidden stands for what MaskURL leaves out.
const hidden = "***"

// MaskURL returns a URL without what may be a secret in it: the user, the query and the
// fragment. It takes text that is not a valid URL too, since people mistype these; where
// it is unclear what belongs to a secret it leaves out more.
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
