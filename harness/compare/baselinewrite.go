package compare

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// about explains the file to its reader.
const about = "written by rehearse bless; to accept a change, bless a run again"

// limitsPrefix is the prefix of the agent's settings. They are many and seldom change, and are
// written on one line.
const limitsPrefix = "limits."

// Encode returns the file of a baseline: sorted, with a line for each expectation and each measure,
// and the same bytes for the same run on every machine. Each scenario has a checksum of its lines,
// and so does the header; ReadBaseline detects manual edits by them. With one checksum per
// scenario, branches that change different scenarios can be merged.
func Encode(b Baseline) []byte {
	var e encoder
	head := e.head(&b)
	e.raw("{\n")
	e.block(1, head, true)
	e.pair(1, "sum", sumOf(head), true)
	e.raw("  \"scenarios\": {")
	for i := range b.Scenarios {
		s := &b.Scenarios[i]
		lines := e.scenario(s)
		e.raw("\n    " + text(s.Name) + ": {\n")
		e.block(3, lines, true)
		e.pair(3, "sum", sumOf(append([]line{{"name", text(s.Name)}}, lines...)), false)
		e.raw("    }")
		if i < len(b.Scenarios)-1 {
			e.raw(",")
		}
	}
	if len(b.Scenarios) > 0 {
		e.raw("\n  ")
	}
	e.raw("}\n}\n")
	return e.out.Bytes()
}

// line is a key with its JSON value. An object that is too long for one line is written between a
// line with opened and one with closed.
type line struct {
	key, value string
}

const (
	opened = "{"
	closed = "}"
)

type encoder struct{ out bytes.Buffer }

func (e *encoder) raw(text string) { e.out.WriteString(text) }

// block writes lines at a depth; more reports whether other lines follow.
func (e *encoder) block(depth int, lines []line, more bool) {
	for i, l := range lines {
		if l.value == closed {
			depth--
		}
		last := i == len(lines)-1 && !more || i+1 < len(lines) && lines[i+1].value == closed || l.value == opened
		e.raw(strings.Repeat("  ", depth))
		if l.key != "" {
			e.raw(text(l.key) + ": ")
		}
		e.raw(l.value)
		if !last {
			e.raw(",")
		}
		e.raw("\n")
		if l.value == opened {
			depth++
		}
	}
}

func (e *encoder) pair(depth int, key, value string, more bool) {
	e.block(depth, []line{{key, text(value)}}, more)
}

// head returns the lines before the scenarios.
func (e *encoder) head(b *Baseline) []line {
	return []line{
		{"schema", text(baselineSchema)},
		{"about", text(about)},
		{"prices", text(b.Prices)},
		{"rules", inline(b.Rules)},
		{"gates", text(b.Gates())},
	}
}

// scenario returns the lines of a scenario, without its name and its checksum.
func (e *encoder) scenario(s *Scenario) []line {
	lines := []line{
		{"verdict", text(string(s.Verdict))},
		{"status", text(s.Status)},
		{"trials", inline(s.Trials)},
		{"ends", inline(s.Ends)},
		{"bar", opened},
	}
	limits := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(s.Expectations)) {
		if name, ok := strings.CutPrefix(key, limitsPrefix); ok {
			limits[name] = s.Expectations[key]
			continue
		}
		lines = append(lines, line{key, text(s.Expectations[key])})
	}
	if len(limits) > 0 {
		lines = append(lines, line{"limits", inline(limits)})
	}
	lines = append(lines, line{"", closed})
	if len(s.Files) > 0 {
		lines = append(lines, line{"files", inline(s.Files)})
	}
	lines = append(lines, line{"measures", opened})
	for i := range s.Measures {
		m := &s.Measures[i]
		lines = append(lines, line{m.Name, inline(wireOf(m, s))})
	}
	lines = append(lines, line{"", closed})
	if s.Stops != "" {
		lines = append(lines, line{"stops", text(s.Stops)})
	}
	return lines
}

// wireOf returns the stored form of a measure. Times of real processes are omitted if no test could
// use them.
func wireOf(m *Measure, s *Scenario) wireMeasure {
	if s.RealTime && m.Unit == "s" && m.N < MinTimed {
		return wireMeasure{Unit: m.Unit, Unknown: true}
	}
	w := wireMeasure{Unit: m.Unit, Unknown: !m.Known, N: m.N, Value: m.Value, Trials: m.Trials}
	if in := m.Interval; in != nil {
		w.Interval = &[2]float64{in.Lo, in.Hi}
	}
	return w
}

func sumOf(lines []line) string {
	sum := sha256.New()
	for _, l := range lines {
		fmt.Fprintf(sum, "%s=%s\n", l.key, l.value)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

func text(s string) string { return inline(strings.ToValidUTF8(s, "\uFFFD")) }

// inline encodes a value on one line. Its values are strings, finite numbers and structs of them,
// which can always be encoded.
func inline(v any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic("baseline: encode: " + err.Error())
	}
	return strings.TrimSuffix(out.String(), "\n")
}
