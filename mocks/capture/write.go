package capture

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/tape"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// Write returns the file of a script. A comment at the top describes its origin: date, upstream and
// version of the capture, and what was redacted. It is an error if the file, when read, differs from
// the script.
func Write(s mocks.Script, t tape.Tape, tapeFile string) ([]byte, error) {
	body, err := yaml.Dump(s, yaml.WithIndent(2), yaml.WithCompactSeqIndent(false), yaml.WithLineWidth(-1))
	if err != nil {
		return nil, fmt.Errorf("write the script: %w", err)
	}
	data := append(stamp(&t, tapeFile), body...)
	if len(data) > yamlsrc.MaxBytes {
		return nil, fmt.Errorf("write the script: it has %d bytes; at most %d are allowed; "+
			"capture less at once, or use --frames, which keeps the answers in %s", len(data), yamlsrc.MaxBytes, tapeFile)
	}
	var again mocks.Script
	if _, found := yamlsrc.Decode(tapeFile, data, &again); len(found) > 0 {
		return nil, fmt.Errorf("write the script: the file is not readable: %w", found.Err())
	}
	if !reflect.DeepEqual(again, s) {
		return nil, errors.New("write the script: the file differs from the script")
	}
	return data, nil
}

// stamp returns the comment at the top of a script.
func stamp(t *tape.Tape, tapeFile string) []byte {
	var b bytes.Buffer
	first := t.Headers[0]
	fmt.Fprintf(&b, "# Captured on %s from %s by rehearse %s.\n", first.Date.UTC().Format("2006-01-02 15:04 UTC"),
		sanitize.Line(first.Upstream, 100), sanitize.Line(first.Version, 40))
	for _, h := range t.Headers[1:] {
		fmt.Fprintf(&b, "# Resumed on %s by rehearse %s.\n", h.Date.UTC().Format("2006-01-02 15:04 UTC"), sanitize.Line(h.Version, 40))
	}
	fmt.Fprintf(&b, "# %s; %s.\n", answered(t), redactions(t))
	fmt.Fprintf(&b, "# The original requests and answers are in %s.\n", sanitize.Line(tapeFile, 100))
	return b.Bytes()
}

// answered counts the captured answers by protocol and model.
func answered(t *tape.Tape) string {
	counts := map[string]int{}
	for i := range t.Exchanges {
		x := &t.Exchanges[i]
		codec, ok := wire.ForExchange(x.Protocol, x.Path)
		if x.Lost != "" || !ok {
			continue
		}
		model := "an error"
		if c, err := codec.ReadAnswer(wire.Streamed(x.ContentType), x.Body); x.Status < 400 && err == nil {
			model = sanitize.Line(c.Model, 80)
		}
		what := x.Protocol
		if model != "" { // answers with images or speech do not name it
			what += ": " + model
		}
		counts[what]++
	}
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s (%d)", what, counts[what]))
	}
	return strings.Join(parts, ", ")
}

// redactions counts the replaced secrets.
func redactions(t *tape.Tape) string {
	counts := map[string]int{}
	unredacted := slices.ContainsFunc(t.Headers, func(h tape.Header) bool { return h.Unredacted })
	for i := range t.Exchanges {
		add(counts, t.Exchanges[i].Redacted)
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s (%d)", kind, counts[kind]))
	}
	switch {
	case unredacted:
		return "SECRETS WERE NOT REDACTED"
	case len(parts) == 0:
		return "no secret was found"
	}
	return "redacted: " + strings.Join(parts, ", ")
}
