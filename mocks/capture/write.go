package capture

import (
	"bytes"
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

// Write returns a script as a file. A comment at the top has its origin: when, from where
// and by which version it was captured, and what was redacted. The file is read again
// before it is returned: a difference from the script is an error.
func Write(s mocks.Script, t tape.Tape, tapeFile string) ([]byte, error) {
	body, err := yaml.Dump(s, yaml.WithIndent(2), yaml.WithCompactSeqIndent(false), yaml.WithLineWidth(-1))
	if err != nil {
		return nil, fmt.Errorf("write the script: %w", err)
	}
	data := append(stamp(&t, tapeFile), body...)
	if len(data) > yamlsrc.MaxBytes {
		return nil, fmt.Errorf("write the script: it would have %d bytes, and at most %d are read; "+
			"capture less at once, or with --frames, which leaves the answers in %s", len(data), yamlsrc.MaxBytes, tapeFile)
	}
	var again mocks.Script
	if _, found := yamlsrc.Decode(tapeFile, data, &again); len(found) > 0 {
		return nil, fmt.Errorf("write the script: it could not be read again: %w", found.Err())
	}
	if !reflect.DeepEqual(again, s) {
		return nil, fmt.Errorf("write the script: it is different when it is read again")
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
		fmt.Fprintf(&b, "# Taken up again on %s by rehearse %s.\n", h.Date.UTC().Format("2006-01-02 15:04 UTC"), sanitize.Line(h.Version, 40))
	}
	what := answered(t)
	fmt.Fprintf(&b, "# %s; %s.\n", what, redactions(t))
	fmt.Fprintf(&b, "# The requests and the answers as they came are in %s.\n", sanitize.Line(tapeFile, 100))
	return b.Bytes()
}

// answered counts what was captured by protocol and model.
func answered(t *tape.Tape) string {
	counts := map[string]int{}
	for i := range t.Exchanges {
		x := &t.Exchanges[i]
		codec, ok := wire.ForProtocol(x.Protocol)
		if x.Lost != "" || !ok {
			continue
		}
		model := "an error"
		if c, err := codec.ReadAnswer(streamed(x.ContentType), x.Body); x.Status < 400 && err == nil {
			model = sanitize.Line(c.Model, 80)
		}
		counts[x.Protocol+": "+model]++
	}
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s (%d)", what, counts[what]))
	}
	return strings.Join(parts, ", ")
}

// redactions counts the secrets that were replaced.
func redactions(t *tape.Tape) string {
	counts := map[string]int{}
	unredacted := false
	for _, h := range t.Headers {
		unredacted = unredacted || h.Unredacted
	}
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
