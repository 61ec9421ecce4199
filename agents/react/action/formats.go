package action

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// maxDepth is the deepest nesting of JSON; for YAML package yamlsrc has its own limit.
const maxDepth = 64

// document is a parsed text: a table, or a value as package json decodes it, with
// json.Number.
type document struct {
	value any
	table *table
}

// table is rows below a header; each row has the same number of cells.
type table struct {
	header []string
	rows   [][]string
}

// codec reads and writes documents of a format.
type codec struct {
	decode func([]byte) (document, error)
	encode func(document) ([]byte, error)
	// strict is true if not every text is valid.
	strict bool
}

var formats = map[string]codec{
	"json":     {asValue(decodeJSON), encodeJSON, true},
	"yaml":     {asValue(decodeYAML), encodeYAML, true},
	"csv":      {decodeCSV, encodeCSV, true},
	"markdown": {decodeMarkdown, encodeMarkdown, false},
	"lines":    {decodeLines, encodeLines, false},
}

func formatNames() []string { return slices.Sorted(maps.Keys(formats)) }

func asValue(decode func([]byte) (any, error)) func([]byte) (document, error) {
	return func(data []byte) (document, error) {
		value, err := decode(data)
		return document{value: value}, err
	}
}

// decodeJSON decodes exactly one value, without duplicate keys, up to maxDepth.
func decodeJSON(data []byte) (any, error) {
	tokens := jsontext.NewDecoder(bytes.NewReader(data))
	for first := true; ; first = false {
		if !first && tokens.StackDepth() == 0 {
			break
		}
		if tokens.StackDepth() > maxDepth {
			return nil, fmt.Errorf("it is nested deeper than %d levels", maxDepth)
		}
		if _, err := tokens.ReadToken(); errors.Is(err, io.EOF) {
			return nil, errors.New("there is no value")
		} else if err != nil {
			return nil, errors.New(strings.TrimPrefix(err.Error(), "jsontext: "))
		}
	}
	if _, err := tokens.ReadToken(); err == nil {
		return nil, errors.New("there is more than one value")
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var value any
	err := d.Decode(&value)
	return value, err
}

// decodeYAML decodes one document with the strict rules of package yamlsrc.
func decodeYAML(data []byte) (any, error) {
	var value any
	if _, found := yamlsrc.Decode("", data, &value); len(found) > 0 {
		return nil, errors.New(strings.TrimLeft(found[0].Error(), ": ")) // begins with line:column
	}
	return normal(value)
}

// normal converts a decoded YAML value to JSON numbers. Numbers other than 64-bit integers
// are float64 by then; if one may have lost digits, that is an error.
func normal(value any) (any, error) {
	if n, found := inexact(value); found {
		return nil, fmt.Errorf("the number %v may have lost digits; write it in quotes", n)
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return decodeJSON(encoded)
}

// inexact returns a number that is too large for exact digits in a float64.
func inexact(value any) (n float64, found bool) {
	switch v := value.(type) {
	case float64:
		return v, math.Abs(v) >= 1<<53
	case []any:
		for _, item := range v {
			if n, found := inexact(item); found {
				return n, true
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if n, found := inexact(v[key]); found {
				return n, true
			}
		}
	}
	return 0, false
}

// decodeData decodes JSON, or else YAML.
func decodeData(data []byte) (any, error) {
	value, err := decodeJSON(data)
	if err == nil {
		return value, nil
	}
	if trimmed := bytes.TrimSpace(data); bytes.HasPrefix(trimmed, []byte("{")) || bytes.HasPrefix(trimmed, []byte("[")) {
		if value, inYAML := decodeYAML(data); inYAML == nil {
			return value, nil
		}
		return nil, err
	}
	return decodeYAML(data)
}

// encodeJSON writes a value with sorted keys, a table as objects with the keys in
// the order of the header.
func encodeJSON(d document) ([]byte, error) {
	if d.table == nil {
		return indented(d.value)
	}
	var b bytes.Buffer
	e := jsontext.NewEncoder(&b, jsontext.WithIndent("  "))
	tokens := []jsontext.Token{jsontext.BeginArray}
	for _, row := range d.table.rows {
		tokens = append(tokens, jsontext.BeginObject)
		for j, cell := range row {
			tokens = append(tokens, jsontext.String(d.table.header[j]), jsontext.String(cell))
		}
		tokens = append(tokens, jsontext.EndObject)
	}
	for _, token := range append(tokens, jsontext.EndArray) {
		if err := e.WriteToken(token); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

func indented(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(value)
	return b.Bytes(), err
}

// encodeYAML writes a value with sorted keys, and numbers with their original digits.
func encodeYAML(d document) ([]byte, error) {
	return yaml.Dump(asWritten(d.plain()), yaml.WithIndent(2))
}

// asWritten replaces numbers by nodes with their original digits.
func asWritten(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = asWritten(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = asWritten(item)
		}
		return out
	case json.Number:
		tag := "!!int"
		if strings.ContainsAny(v.String(), ".eE") {
			tag = "!!float"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: v.String()}
	}
	return value
}

// plain returns the document as a value: a table becomes a list of objects.
func (d document) plain() any {
	if d.table == nil {
		return d.value
	}
	all := make([]any, len(d.table.rows))
	for i, row := range d.table.rows {
		object := make(map[string]any, len(row))
		for j, cell := range row {
			object[d.table.header[j]] = cell
		}
		all[i] = object
	}
	return all
}

func decodeCSV(data []byte) (document, error) {
	r := csv.NewReader(bytes.NewReader(data))
	rows, err := r.ReadAll()
	if err != nil {
		return document{}, err
	}
	if len(rows) == 0 {
		return document{}, errors.New("there is no header")
	}
	return newTable(rows)
}

// newTable returns a table; the first row is the header.
func newTable(rows [][]string) (document, error) {
	seen := make(map[string]bool)
	for i, name := range rows[0] {
		if seen[name] || strings.TrimSpace(name) == "" {
			return document{}, fmt.Errorf("column %d has the name %q, which is empty or there twice", i+1, clip(name))
		}
		seen[name] = true
	}
	return document{table: &table{rows[0], rows[1:]}}, nil
}

func encodeCSV(d document) ([]byte, error) {
	t, err := d.asTable()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	err = w.WriteAll(append([][]string{t.header}, t.rows...))
	return b.Bytes(), err
}

// asTable returns the document as a table: the header of a list of flat objects is their
// sorted keys.
func (d document) asTable() (*table, error) {
	if d.table != nil {
		return d.table, nil
	}
	items, ok := d.value.([]any)
	if !ok || len(items) == 0 {
		return nil, errors.New("only a list of objects, with at least one, makes a table")
	}
	keys := make(map[string]bool)
	for i, item := range items {
		object, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("item %d is not an object", i+1)
		}
		for key := range object {
			keys[key] = true
		}
	}
	if len(keys) == 0 || len(keys)*len(items) > maxFile {
		return nil, fmt.Errorf("%d columns in %d rows do not make a table", len(keys), len(items))
	}
	t := &table{header: slices.Sorted(maps.Keys(keys))}
	for i, item := range items {
		row := make([]string, len(t.header))
		for j, key := range t.header {
			value, given := item.(map[string]any)[key]
			if cell, ok := scalar(value); ok {
				row[j] = cell
			} else if given {
				return nil, fmt.Errorf("%q of item %d is a list or an object, which no cell can hold", clip(key), i+1)
			}
		}
		t.rows = append(t.rows, row)
	}
	return t, nil
}

// scalar returns the text of a value that is neither a list nor an object; null is empty.
func scalar(value any) (string, bool) {
	switch v := value.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case bool, json.Number:
		return fmt.Sprint(v), true
	}
	return "", false
}

func decodeLines(data []byte) (document, error) {
	all := []any{}
	for _, line := range split(data) {
		all = append(all, line)
	}
	return document{value: all}, nil
}

func encodeLines(d document) ([]byte, error) {
	items, ok := d.value.([]any)
	if !ok {
		return nil, errors.New("only a list makes lines")
	}
	var b bytes.Buffer
	for i, item := range items {
		line, ok := scalar(item)
		if !ok || strings.ContainsAny(line, "\r\n") {
			return nil, fmt.Errorf("item %d does not fit in a line", i+1)
		}
		b.WriteString(line + "\n")
	}
	return b.Bytes(), nil
}
