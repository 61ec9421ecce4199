// Package child runs programs in process groups that end as a whole, with time limits, optionally with
// fewer rights, and with the end of the output for error messages.
package child

import (
	"cmp"
	"strings"
)

// tailSize is the default size of a Tail, in bytes.
const tailSize = 4 << 10

// Tail keeps the end of the written data. The zero value is ready to use.
type Tail struct {
	// Size limits the kept bytes; default 4 KiB.
	Size int

	data []byte
	cut  bool
}

// Write implements io.Writer; it never fails.
func (t *Tail) Write(p []byte) (int, error) {
	size := cmp.Or(t.Size, tailSize)
	t.cut = t.cut || len(t.data)+len(p) > size
	t.data = append(t.data, p[max(0, len(p)-size):]...)
	if extra := len(t.data) - size; extra > 0 {
		t.data = append(t.data[:0], t.data[extra:]...)
	}
	return len(p), nil
}

// Cut reports whether the beginning was dropped.
func (t *Tail) Cut() bool { return t.cut }

// String returns the kept end as valid, trimmed text.
func (t *Tail) String() string {
	return strings.TrimSpace(strings.ToValidUTF8(string(t.data), "\uFFFD"))
}

// Lines returns String without a truncated first line, if there is another line: half a secret would not
// be recognised.
func (t *Tail) Lines() string {
	text := t.String()
	if _, rest, more := strings.Cut(text, "\n"); more && t.cut {
		return rest
	}
	return text
}
