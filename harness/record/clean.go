package record

import (
	"crypto/sha256"
	"fmt"
	"math"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// maxText limits the stored bytes of one text; of a longer one the length and the hash are
// stored as well.
const maxText = 1 << 20

// clean returns a text as it is stored: without secrets, and truncated. Secrets are replaced
// first, since a truncated secret might not be recognized.
func (c *Collector) clean(s string) string {
	if s == "" {
		return s
	}
	s = c.opt.Redactor.Text(s)
	if len(s) <= maxText {
		return s
	}
	return fmt.Sprintf("%s\n[CUT: %d bytes in all, SHA-256 %x]", sanitize.Prefix(s, maxText), len(s), sha256.Sum256([]byte(s)))
}

// cleanList returns a list of texts as it is stored. Other lists become text.
func (c *Collector) cleanList(in []any) any {
	out := make([]any, len(in))
	for i, v := range in {
		text, ok := v.(string)
		if !ok {
			return c.clean(fmt.Sprint(in))
		}
		out[i] = c.clean(text)
	}
	return out
}

// cleanAttrs returns attributes as they are stored. Values that do not survive a round trip
// through JSON become text, so that they do not make the recording fail.
func (c *Collector) cleanAttrs(in map[string]any) map[string]any {
	if len(in) == 0 {
		return nil
	}
	out := make(map[string]any, len(in))
	for k, v := range in {
		switch v := v.(type) {
		case string:
			out[c.clean(k)] = c.clean(v)
		case bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
			out[c.clean(k)] = v
		case float64:
			if math.IsNaN(v) || math.IsInf(v, 0) {
				out[c.clean(k)] = fmt.Sprint(v)
			} else {
				out[c.clean(k)] = v
			}
		case []any:
			out[c.clean(k)] = c.cleanList(v)
		default:
			out[c.clean(k)] = c.clean(fmt.Sprint(v))
		}
	}
	return out
}
