package show

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// jsonStyle is that of encoding/json, but indented in one pass, without a second
// copy of the value in memory, and with "<" left as it is.
var jsonStyle = json.JoinOptions(
	jsonv1.OmitEmptyWithLegacySemantics(true),
	jsontext.AllowInvalidUTF8(true),
	json.Deterministic(true),
	jsontext.WithIndent("  "),
)

// JSON writes v, indented, with a line break at the end.
func JSON(w io.Writer, v any) error {
	if err := json.MarshalWrite(w, v, jsonStyle); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// oneLine is jsonStyle without indentation.
var oneLine = json.JoinOptions(jsonStyle, jsontext.Multiline(false), jsontext.WithIndent(""))

// Marshal returns v as JSON on one line.
func Marshal(v any) ([]byte, error) { return json.Marshal(v, oneLine) }
