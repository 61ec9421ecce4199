package format

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// oneLine is the style of encoding/json, without escaping "<".
var oneLine = json.JoinOptions(
	jsonv1.OmitEmptyWithLegacySemantics(true),
	jsontext.AllowInvalidUTF8(true),
	json.Deterministic(true),
)

// jsonStyle is oneLine, indented in one pass.
var jsonStyle = json.JoinOptions(oneLine, jsontext.WithIndent("  "))

// JSON writes v, indented, with a line break at the end.
func JSON(w io.Writer, v any) error {
	if err := json.MarshalWrite(w, v, jsonStyle); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// Marshal returns v as JSON on one line.
func Marshal(v any) ([]byte, error) { return json.Marshal(v, oneLine) }
