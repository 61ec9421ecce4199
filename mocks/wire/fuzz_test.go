package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// FuzzDecode: no body makes the codec panic, a refusal is always the client's
// fault, and what is accepted can be answered with valid JSON.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `[]`, asking(), asking(tool, `"tool_choice":"auto"`, `"stream":true`), saying(user, calls, second, result),
		saying(user, result), saying(call), asking(`"metadata":{"purpose":"x","é":"y"}`), asking(`"temperature":1e400`),
		saying(`{"role":"user","content":[{"type":"text","text":"\ud800"}]}`),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c, e := codec.Decode(body)
		if e != nil {
			if e.Status != 400 || e.Message == "" || !json.Valid(codec.EncodeError(e)[0].Data) {
				t.Fatalf("refused with %+v", e)
			}
			return
		}
		if c.Model == "" || len(c.Messages) == 0 {
			t.Fatalf("accepted as %+v", c)
		}
		answer := wire.Completion{ID: "x", Model: c.Model, Text: c.Messages[0].Content, Usage: llm.Usage{Output: 1}}
		c.Stream = false
		if data := codec.Encode(c, answer)[0].Data; !json.Valid(data) {
			t.Fatalf("answered with %q", data)
		}
	})
}

// FuzzDecodeEmbeddings: no body makes the parser panic, and what is accepted
// stays within the limits.
func FuzzDecodeEmbeddings(f *testing.F) {
	for _, seed := range []string{
		``, `{"model":"m","input":"a"}`, `{"model":"m","input":["a",[1,2]],"dimensions":3}`,
		`{"model":"m","input":[1,2],"encoding_format":"base64"}`, `{"model":"m","input":[[[1]]]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, e := wire.DecodeOpenAIEmbeddings(body)
		if e != nil {
			return
		}
		if len(r.Inputs) == 0 || r.Dimensions < 1 || r.Dimensions > 3072 {
			t.Fatalf("accepted as %+v", r)
		}
		r.Inputs = r.Inputs[:1]
		if data := r.Encode(1)[0].Data; !json.Valid(data) {
			t.Fatalf("answered with %.200q", data)
		}
	})
}
