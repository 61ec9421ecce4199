package compare

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// MaxBytes limits the size of a baseline file, which is enough for some 10,000 scenarios.
const MaxBytes = 32 << 20

// again is the hint for a file that cannot be used.
const again = "restore it from version control, or bless a run again: rehearse bless RUN"

// ReadBaseline reads a baseline file; name is its name in diagnostics. The content must be as
// Encode writes it, apart from white space. Another version, an unknown or repeated key, an
// impossible value and a line edited by hand are errors of type yamlsrc.Diagnostics with a
// position.
func ReadBaseline(name string, r io.Reader) (Baseline, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return Baseline{}, fmt.Errorf("read the baseline %s: %w", name, err)
	}
	doc := document{name: name, data: data}
	switch {
	case len(data) > MaxBytes:
		return Baseline{}, doc.wrong(0, "", fmt.Sprintf("the file is larger than %d bytes; %s", MaxBytes, again))
	case len(bytes.TrimSpace(data)) == 0:
		return Baseline{}, doc.wrong(0, "", "the baseline is empty; "+again)
	}
	if first := bytes.TrimSpace(data)[0]; first != '{' && !bytes.HasPrefix(data, []byte("<<<<<<<")) {
		return Baseline{}, doc.wrong(0, "", "this is not a baseline: it is not a JSON object; "+again)
	}
	if at, marked := conflict(data); marked {
		return Baseline{}, doc.wrong(at, "", "unresolved merge conflict; take either side and bless a run again: rehearse bless RUN")
	}
	if err := doc.version(); err != nil {
		return Baseline{}, err
	}
	var w wire
	if err := json.Unmarshal(data, &w, json.RejectUnknownMembers(true)); err != nil {
		return Baseline{}, doc.explain(err)
	}
	return doc.baseline(&w)
}

// document is the text of a file, used to find positions.
type document struct {
	name string
	data []byte
}

// version rejects a file of another version before its keys are checked.
func (d *document) version() error {
	var head struct {
		Schema *string `json:"schema"`
	}
	if err := json.Unmarshal(d.data, &head); err != nil {
		return d.explain(err)
	}
	switch {
	case head.Schema == nil:
		return d.wrong(0, "", fmt.Sprintf("this is not a baseline: it has no key \"schema\" with %q; %s", baselineSchema, again))
	case *head.Schema != baselineSchema:
		return d.wrong(d.after(`"schema"`, 0), "schema", fmt.Sprintf(
			"unsupported schema %q; this program reads %q; use the version that wrote it, or bless a run again: rehearse bless RUN",
			*head.Schema, baselineSchema))
	}
	return nil
}

// conflict finds a merge conflict marker of git.
func conflict(data []byte) (at int, marked bool) {
	for _, marker := range []string{"<<<<<<< ", ">>>>>>> "} {
		if bytes.HasPrefix(data, []byte(marker)) {
			return 0, true
		}
		if i := bytes.Index(data, []byte("\n"+marker)); i >= 0 {
			return i + 1, true
		}
	}
	return 0, false
}

// explain turns an error of the JSON decoder into a diagnostic.
func (d *document) explain(err error) error {
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		message := strings.TrimPrefix(syntax.Err.Error(), "jsontext: ")
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			message = "the file ends in the middle"
		case errors.Is(err, jsontext.ErrDuplicateName):
			message = fmt.Sprintf("the key %q is repeated", syntax.JSONPointer.LastToken())
		}
		return d.wrong(int(syntax.ByteOffset), keyPath(syntax.JSONPointer), message+"; "+again)
	}
	semantic, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return d.wrong(0, "", err.Error()+"; "+again)
	}
	message := "this value is not allowed here"
	switch {
	case errors.Is(err, json.ErrUnknownName):
		message = fmt.Sprintf("unknown key %q", semantic.JSONPointer.LastToken())
	case semantic.Err != nil:
		message = semantic.Err.Error()
	case semantic.JSONKind != 0:
		message = fmt.Sprintf("a %s is not allowed here", semantic.JSONKind)
	}
	return d.wrong(int(semantic.ByteOffset), keyPath(semantic.JSONPointer), message+"; "+again)
}

// keyPath formats a place in the document for messages.
func keyPath(p jsontext.Pointer) string {
	out := ""
	for token := range p.Tokens() {
		out = yamlsrc.Join(out, token)
	}
	return out
}

// wrong returns a diagnostic at a byte of the file.
func (d *document) wrong(offset int, path, message string) error {
	one := yamlsrc.Diagnostic{File: d.name, Path: path, Message: message}
	if path != "" || offset > 0 {
		before := d.data[:min(max(offset, 0), len(d.data))]
		one.Line = 1 + bytes.Count(before, []byte("\n"))
		one.Column = 1 + len([]rune(string(before[bytes.LastIndexByte(before, '\n')+1:])))
	}
	if path != "" {
		one.Message = path + ": " + message
	}
	return yamlsrc.Diagnostics{one}.In(d.data)
}

// after returns the offset of the first value behind text, searching from an offset.
func (d *document) after(text string, from int) int {
	i := bytes.Index(d.data[from:], []byte(text))
	if i < 0 {
		return from
	}
	i += from + len(text)
	for i < len(d.data) && strings.IndexByte(" \t\r\n:", d.data[i]) >= 0 {
		i++
	}
	return i
}

// scenario returns the offset at which a scenario begins.
func (d *document) scenario(name string) int {
	return d.after(inline(name), d.after(`"scenarios"`, 0))
}

// baseline validates the decoded file and returns it.
func (d *document) baseline(w *wire) (Baseline, error) {
	b := Baseline{Prices: w.Prices, Rules: w.Rules}
	if err := w.Rules.Validate(); err != nil {
		return Baseline{}, d.wrong(d.after(`"rules"`, 0), "rules", err.Error()+"; "+again)
	}
	for _, m := range w.Scenarios {
		at := d.scenario(m.key)
		if m.value == nil {
			return Baseline{}, d.wrong(at, yamlsrc.Join("scenarios", m.key), "the scenario is null; "+again)
		}
		s, err := m.value.scenario(m.key)
		if err != nil {
			return Baseline{}, d.wrong(at, yamlsrc.Join("scenarios", m.key), err.Error()+"; "+again)
		}
		b.Scenarios = append(b.Scenarios, s)
	}
	return b, d.edited(w, &b)
}

// edited returns an error if a part was edited by hand, so that its checksum differs. Lines are
// encoded again from the decoded values, because only their meaning counts.
func (d *document) edited(w *wire, b *Baseline) error {
	var e encoder
	for i := range b.Scenarios {
		s := &b.Scenarios[i]
		lines := append([]line{{"name", text(s.Name)}}, e.scenario(s)...)
		if sumOf(lines) != w.Scenarios[i].value.Sum {
			return d.wrong(d.scenario(s.Name), yamlsrc.Join("scenarios", s.Name), "was edited by hand: its checksum differs; "+again)
		}
	}
	if b.Gates() != w.Gates {
		return d.wrong(d.after(`"gates"`, 0), "gates", "the hash does not match the scenarios: some were added or removed by hand; "+again)
	}
	if w.About != about || sumOf(e.head(b)) != w.Sum {
		return d.wrong(d.after(`"sum"`, 0), "sum", "the lines above were edited by hand: their checksum differs; "+again)
	}
	return nil
}
