// Package child is what those need who start programs: process groups to end
// them by, and the end of what they said for error messages.
package child

import "strings"

// tailSize is how many bytes a Tail keeps.
const tailSize = 4 << 10

// Tail keeps the end of what is written to it. The zero value is ready to use.
type Tail struct{ kept []byte }

// Write implements io.Writer; it never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p[max(0, len(p)-tailSize):]...)
	if extra := len(t.kept) - tailSize; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	return len(p), nil
}

// String is the kept end as valid, trimmed text.
func (t *Tail) String() string {
	return strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "\uFFFD"))
}
