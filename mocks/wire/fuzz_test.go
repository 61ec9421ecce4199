package wire_test

import (
	"encoding/json"
	"net/http"
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

// FuzzDecodeEmbeddings: no body makes the parser panic, and each accepted one is answered.
func FuzzDecodeEmbeddings(f *testing.F) {
	for _, seed := range []string{
		``, `{"model":"m","input":"a"}`, `{"model":"m","input":["a",[1,2]],"dimensions":3}`,
		`{"model":"m","input":[1,2],"encoding_format":"base64"}`, `{"model":"m","input":[[[1]]]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<10 { // 2,048 inputs of 3,072 dimensions are valid, and slow
			return
		}
		answer := codec.Embed(body, nil)[0]
		if !json.Valid(answer.Data) {
			t.Fatalf("answered with %.200q", answer.Data)
		}
		var r struct{ Data []struct{ Embedding any } }
		if err := json.Unmarshal(answer.Data, &r); err != nil || answer.Status == 200 && len(r.Data) == 0 {
			t.Fatalf("accepted without an embedding: %v", err)
		}
	})
}

// FuzzDecodeResponses: as FuzzDecode, and what was answered can be read back.
func FuzzDecodeResponses(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, wanting(), input(user, thought, answered, fnCall, jsCall, jsOutput, fnOutput), input(user, shCall, shOutput),
		wanting(`"stream":true,"tools":[{"type":"namespace","name":"ns","tools":[{"type":"custom","name":"exec"}]}]`),
		input(`{"type":"additional_tools","tools":[{"type":"function","name":"f"}]}`, user),
		input(user, `{"type":"function_call","call_id":"c","name":"f","arguments":7}`), `{"model":"m","previous_response_id":"r"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) { fuzzDecode(t, wire.OpenAIResponses{}, body) })
}

// FuzzDecodeMessages: as FuzzDecodeResponses.
func FuzzDecodeMessages(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, begging(), begging(oneTool, `"tool_choice":{"type":"any"},"stream":true`),
		talk(user, from("assistant", says, use1, use2), from("user", result1, result2, says)),
		begging(`"thinking":{"type":"enabled","budget_tokens":1024}`), begging(`"system":[{"type":"text","text":"x"}]`),
		talk(from("user", `{"type":"tool_result","tool_use_id":"x","content":[{"type":"tool_result","content":[[]]}]}`)),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) { fuzzDecode(t, wire.AnthropicMessages{}, body) })
}

// FuzzDecodeGemini: as FuzzDecodeResponses.
func FuzzDecodeGemini(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, prompting(askGemini, toolGemini), prompting(askGemini+`,`+callGemini+`,`+resultGemini, toolGemini),
		`{"contents":{"parts":{"text":"x"}},"system_instruction":{"parts":[null]}}`,
		prompting(`{"parts":[{"functionResponse":{"name":"f","response":{},"parts":[{"parts":[[]]}]}}]}`),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		fuzzDecode(t, wire.Gemini{Model: "gemini-3.1-pro"}, body)
		for _, batch := range []bool{false, true} {
			if data := (wire.Gemini{}).Embed(body, batch)[0].Data; !json.Valid(data) {
				t.Fatalf("answered with %.200q", data)
			}
		}
	})
}

// FuzzDecodeOllama: as FuzzDecodeResponses.
func FuzzDecodeOllama(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `{"model":"m","messages":[{"role":"user","content":"a","images":["AAAA"]}],"options":{"seed":1e300,"num_predict":-2}}`,
		`{"model":"m","messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{}}}]}],"tools":[{"function":{"name":"f"}}]}`,
		`{"model":"m","prompt":"p","format":"json","think":"high","keep_alive":"5m","stream":false}`,
	} {
		f.Add(true, []byte(seed))
		f.Add(false, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, generate bool, body []byte) { fuzzDecode(t, wire.Ollama{Generate: generate}, body) })
}

func fuzzDecode(t *testing.T, codec wire.Reader, body []byte) {
	t.Helper()
	c, e := codec.Decode(body)
	if e != nil {
		known := e.Status == 400 || codec.Protocol() == "ollama" && (e.Status == 404 || e.Status == 500)
		if !known || e.Message == "" || !json.Valid(codec.EncodeError(e)[0].Data) {
			t.Fatalf("refused with %+v", e)
		}
		return
	}
	if c.Model == "" {
		t.Fatalf("accepted as %+v", c)
	}
	if e := (wire.Rules{Demand: wire.OptionalRules()}).Check(codec, &c, nil, body); e != nil && (e.Rule == "" || e.Message == "") {
		t.Fatalf("refused with %+v", e)
	}
	answer := wire.Completion{ID: "x", Model: c.Model, Thinking: "hm", Usage: llm.Usage{Output: 1}}
	for _, tool := range c.Tools {
		answer.ToolCalls = append(answer.ToolCalls, llm.ToolCall{ID: "c", Name: tool.Name, Arguments: `{"input":"x"}`})
	}
	for _, m := range c.Messages {
		answer.Text += m.Content
	}
	for _, c.Stream = range []bool{false, true} {
		got, err := codec.ReadAnswer(c.Stream, bodyOf(codec.Encode(c, answer)))
		if err != nil || got.Text != answer.Text || len(got.ToolCalls) != len(answer.ToolCalls) {
			t.Fatalf("answered %+v, which is read as %+v, %v", answer, got, err)
		}
	}
}

// FuzzReadAnswer: no answer makes a reader panic, and what it makes of one can be
// encoded and is read as the same.
func FuzzReadAnswer(f *testing.F) {
	for i, p := range protocols {
		for _, answer := range []wire.Completion{textAnswer, toolAnswer, {}} {
			for _, call := range []wire.Call{plainCall, usageCall} {
				f.Add(i, call.Stream, bodyOf(p.Encode(call, answer)))
			}
		}
		f.Add(i, true, []byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":9}]}}]}\r\n\r\ndata: [DONE]"))
		f.Add(i, false, []byte(`{"output":[{"type":"function_call","arguments":1},{"type":"reasoning"}],"content":[{"type":"tool_use","input":"x"}]}`))
	}
	f.Fuzz(func(t *testing.T, protocol int, streamed bool, body []byte) {
		if protocol < 0 || protocol >= len(protocols) {
			return
		}
		p := protocols[protocol]
		c, err := p.ReadAnswer(streamed, body)
		if err != nil {
			if err.Error() == "" {
				t.Fatalf("an error without words: %#v", err)
			}
			return
		}
		call := plainCall
		call.Stream, call.IncludeUsage = streamed, true
		again, err := p.ReadAnswer(streamed, bodyOf(p.Encode(call, c)))
		if err != nil || again.Text != c.Text || again.Refusal != c.Refusal || len(again.ToolCalls) != len(c.ToolCalls) {
			t.Fatalf("read %+v, and again %+v, %v", c, again, err)
		}
	})
}

// FuzzReadError: any response that is no success is an error with words.
func FuzzReadError(f *testing.F) {
	for _, seed := range []string{``, `{"error":{"message":"m","code":1}}`, `{"error":"m"}`, `{"error":null}`, "<html>", "\xff"} {
		f.Add(500, "3", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, status int, after string, body []byte) {
		e := wire.ReadError(status, http.Header{"Retry-After": {after}}, body)
		if e == nil || e.Message == "" || e.Status != status || e.RetryAfter < 0 {
			t.Fatalf("read as %+v", e)
		}
	})
}
