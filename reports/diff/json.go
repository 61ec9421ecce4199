package diff

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// parseJSON returns an object or an array.
func parseJSON(s string) (any, bool) {
	if trimmed := strings.TrimSpace(s); trimmed == "" || (trimmed[0] != '{' && trimmed[0] != '[') {
		return nil, false
	}
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, false
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, false
	}
	return v, depth(v) <= maxDepth
}

// depth returns the number of levels of a value.
func depth(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, value := range v {
			deepest = max(deepest, depth(value))
		}
	case []any:
		for _, value := range v {
			deepest = max(deepest, depth(value))
		}
	}
	return deepest + 1
}

// sameKind reports whether both values are objects or both are arrays.
func sameKind(a, b any) bool {
	_, aObject := a.(map[string]any)
	_, bObject := b.(map[string]any)
	_, aArray := a.([]any)
	_, bArray := b.([]any)
	return aObject && bObject || aArray && bArray
}

// compareJSON returns the lines of two values with the same indentation as json.Indent, in which
// keys are sorted. It returns nil for equal values.
func compareJSON(a, b any) []Line {
	if equal(a, b) {
		return []Line{gap("equal as JSON: only white space, the order of keys or the spelling of numbers differs")}
	}
	var w jsonLines
	w.both("", "", a, b)
	return w.lines
}

// jsonLines collects lines. It is a few lines over the limit at most.
type jsonLines struct{ lines []Line }

func (w *jsonLines) full() bool { return len(w.lines) > 4*maxLines }

// both adds the lines of a value that both sides have under the same label, such as a key.
func (w *jsonLines) both(indent, label string, a, b any) {
	switch {
	case w.full():
	case equal(a, b):
		w.one(Same, indent, label, a)
	case sameKind(a, b):
		w.inside(indent, label, a, b)
	default:
		before, after := &jsonLines{}, &jsonLines{}
		before.one(Missing, indent, label, a)
		after.one(Extra, indent, label, b)
		if len(before.lines) == 1 && len(after.lines) == 1 {
			x, y := compareWords(before.lines[0].String(), after.lines[0].String())
			before.lines[0].Spans, after.lines[0].Spans = x, y
		}
		w.lines = append(append(w.lines, before.lines...), after.lines...)
	}
}

// inside adds the lines of two different objects or arrays.
func (w *jsonLines) inside(indent, label string, a, b any) {
	deeper := indent + "  "
	if x, ok := a.(map[string]any); ok {
		w.around(indent + label + "{")
		w.object(deeper, x, b.(map[string]any))
		w.around(indent + "}")
		return
	}
	w.around(indent + label + "[")
	w.array(deeper, a.([]any), b.([]any))
	w.around(indent + "]")
}

func (w *jsonLines) object(indent string, a, b map[string]any) {
	keys := slices.Collect(maps.Keys(a))
	for key := range b {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		x, inA := a[key]
		y, inB := b[key]
		label := encode(key) + ": "
		switch {
		case w.full():
			return
		case !inB:
			w.one(Missing, indent, label, x)
		case !inA:
			w.one(Extra, indent, label, y)
		default:
			w.both(indent, label, x, y)
		}
	}
}

// array compares elements. Where as many replace as many others, they are compared one by one.
func (w *jsonLines) array(indent string, a, b []any) {
	for _, h := range hunks(canonical(a), canonical(b)) {
		for _, v := range a[h.a:h.same] {
			w.one(Same, indent, "", v)
		}
		missing, extra := a[h.same:h.aEnd], b[h.b:h.bEnd]
		for len(missing) > 0 && len(missing) == len(extra) {
			w.both(indent, "", missing[0], extra[0])
			missing, extra = missing[1:], extra[1:]
		}
		for _, v := range missing {
			w.one(Missing, indent, "", v)
		}
		for _, v := range extra {
			w.one(Extra, indent, "", v)
		}
	}
}

// one adds the lines of a value of one side, or of both.
func (w *jsonLines) one(kind Kind, indent, label string, v any) {
	if w.full() {
		return
	}
	text := label + encode(v)
	const short = 60
	if len(text) > short {
		var b bytes.Buffer
		if json.Indent(&b, []byte(encode(v)), indent, "  ") == nil {
			text = label + b.String()
		}
	}
	for i, line := range strings.Split(text, "\n") {
		if i == 0 {
			line = indent + line // the others have it already
		}
		w.add(kind, line)
	}
}

func (w *jsonLines) around(text string) {
	w.lines = append(w.lines, Line{Kind: Same, Spans: []Span{{Text: text}}, around: true})
}

func (w *jsonLines) add(kind Kind, text string) { w.lines = append(w.lines, plain(kind, text)) }

// encode returns a value as JSON with sorted keys, on one line, and without the escapes that only
// HTML needs.
func encode(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null" // it was decoded from JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// canonical returns a text for each value that is the same for equal ones.
func canonical(list []any) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = encode(normal(v))
	}
	return out
}

// normal returns a value with numbers in one spelling: 1.0 equals 1.
func normal(v any) any {
	switch v := v.(type) {
	case json.Number:
		const exact = 1 << 53 // integers above differ in what a float rounds
		if f, err := v.Float64(); err == nil && math.Abs(f) < exact {
			return f
		}
		return v
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = normal(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = normal(value)
		}
		return out
	}
	return v
}

// equal reports whether two values are equal as JSON.
func equal(a, b any) bool { return encode(normal(a)) == encode(normal(b)) }
