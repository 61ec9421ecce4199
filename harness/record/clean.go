package record

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/llm"
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
	cut := maxText
	for cut > maxText-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s\n[CUT: %d bytes in all, SHA-256 %x]", s[:cut], len(s), sha256.Sum256([]byte(s)))
}

func (c *Collector) cleanMessage(m llm.Message) llm.Message {
	m.Role = llm.Role(c.clean(string(m.Role)))
	m.Content, m.Name, m.ToolCallID = c.clean(m.Content), c.clean(m.Name), c.clean(m.ToolCallID)
	m.Attachments = slices.Clone(m.Attachments)
	for i := range m.Attachments {
		a := &m.Attachments[i]
		*a = llm.Attachment{
			Kind: c.clean(a.Kind), MediaType: c.clean(a.MediaType), Name: c.clean(a.Name),
			Bytes: a.Bytes, SHA256: c.clean(a.SHA256), Source: c.clean(a.Source),
		}
	}
	m.ToolCalls = slices.Clone(m.ToolCalls)
	for i, t := range m.ToolCalls {
		m.ToolCalls[i] = llm.ToolCall{ID: c.clean(t.ID), Name: c.clean(t.Name), Arguments: c.clean(t.Arguments)}
	}
	return m
}

func (c *Collector) cleanMap(in map[string]string) map[string]string {
	if len(in) == 0 {
		return nil
	}
	out := make(map[string]string, len(in))
	for k, v := range in {
		out[c.clean(k)] = c.clean(v)
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
		default:
			out[c.clean(k)] = c.clean(fmt.Sprint(v))
		}
	}
	return out
}

func (c *Collector) cleanAll(in []string) []string {
	out := slices.Clone(in)
	for i := range out {
		out[i] = c.clean(out[i])
	}
	return out
}

func (c *Collector) cleanScript(s Script) Script {
	return Script{
		Unused:     c.cleanAll(s.Unused),
		Unexpected: c.cleanAll(s.Unexpected),
		Invalid:    c.cleanAll(s.Invalid),
		Unfired:    c.cleanAll(s.Unfired),
	}
}

func (c *Collector) cleanEnd(e End) End {
	e.Status, e.Text, e.Summary = c.clean(e.Status), c.clean(e.Text), c.clean(e.Summary)
	e.Details, e.HarnessError, e.Skipped = c.clean(e.Details), c.clean(e.HarnessError), c.clean(e.Skipped)
	return e
}
