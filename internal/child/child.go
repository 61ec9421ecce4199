// Package child is what those need who start programs: process groups to end
// them by, the end of what they said for error messages, and an environment
// without secrets.
package child

import (
	"cmp"
	"strings"
)

// tailSize is how many bytes a Tail keeps that does not say.
const tailSize = 4 << 10

// Tail keeps the end of what is written to it. The zero value is ready to use.
type Tail struct {
	// Size is how many bytes are kept; default 4 KiB.
	Size int

	kept []byte
	cut  bool
}

// Write implements io.Writer; it never fails.
func (t *Tail) Write(p []byte) (int, error) {
	size := cmp.Or(t.Size, tailSize)
	t.cut = t.cut || len(t.kept)+len(p) > size
	t.kept = append(t.kept, p[max(0, len(p)-size):]...)
	if extra := len(t.kept) - size; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	return len(p), nil
}

// Cut reports whether more was written than is kept.
func (t *Tail) Cut() bool { return t.cut }

// String is the kept end as valid, trimmed text.
func (t *Tail) String() string {
	return strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "\uFFFD"))
}

// Lines is String without the line that was cut in two, if there is another: half a
// line says little, and half a secret is not known for one.
func (t *Tail) Lines() string {
	text := t.String()
	if _, rest, more := strings.Cut(text, "\n"); more && t.cut {
		return rest
	}
	return text
}
