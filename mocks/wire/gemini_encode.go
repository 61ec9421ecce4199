package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// Encode implements Codec, with the timing of OpenAIChat. A function call whose arguments are not a
// JSON object has no form: the answer ends with MALFORMED_FUNCTION_CALL instead.
func (g Gemini) Encode(call Call, c Completion) []Frame {
	c.Finish = c.FinishReason()
	parts, malformed := geminiParts(c)
	if call.Stream {
		return encodeGeminiChunks(c, parts, malformed)
	}
	var body jsonText
	if g.Array {
		body = geminiArray(encodeGeminiChunks(c, parts, malformed))
	} else {
		j := make(jsonText, 0, 400+outputLen(c)*9/8).raw(`{"candidates":[{"content":{`)
		for i, p := range parts {
			if i == 0 {
				j = j.raw(`"parts":[`)
			}
			j = j.comma(i).geminiPart(p, p.text)
		}
		if len(parts) > 0 {
			j = j.raw(`],`)
		}
		body = j.raw(`"role":"model"},`).geminiEnd(c, malformed)
	}
	frames := jsonFrames("", body)
	frames[0].Delay = addUp(c.First, generation(c))
	return frames
}

// geminiParts returns the parts of an answer that the protocol can express, and the last call that
// it cannot. The arguments of calls are on one line, and the first call has a signature.
func geminiParts(c Completion) (parts []part, malformed *llm.ToolCall) {
	signed := false
	for _, p := range c.parts() {
		switch {
		case p.kind == callPart:
			arguments := jsontext.Value(toolInput(p.text))
			if arguments.Kind() != '{' || arguments.Compact() != nil {
				malformed = p.call
				continue
			}
			p.text = string(arguments)
			if !signed {
				p.signature, signed = geminiSignature(p.call), true
			}
		case p.text == "" && c.Finish == llm.FinishContentFilter:
			continue // a filtered answer has no parts
		}
		parts = append(parts, p)
	}
	return parts, malformed
}

// geminiPart appends a part with the given text.
func (j jsonText) geminiPart(p part, text string) jsonText {
	switch p.kind {
	case thinkingPart:
		return j.raw(`{"text":`).quote(text).raw(`,"thought":true}`)
	case textPart, refusalPart:
		return j.raw(`{"text":`).quote(text).raw(`}`)
	case callPart:
		j = j.raw(`{"functionCall":{"id":`).quote(p.call.ID).raw(`,"name":`).quote(p.call.Name).raw(`,"args":`).raw(text).raw(`}`)
		if p.signature != "" {
			j = j.raw(`,"thoughtSignature":`).quote(p.signature)
		}
		return j.raw(`}`)
	}
	return j
}

// geminiSignature returns a digest in place of the encrypted thoughts before a call.
func geminiSignature(call *llm.ToolCall) string {
	sum := sha256.Sum256([]byte(call.ID + "\x00" + call.Name))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// geminiEnd appends the end of an answer after its content. malformed is nil or a call that was left
// out.
func (j jsonText) geminiEnd(c Completion, malformed *llm.ToolCall) jsonText {
	reason := geminiReason(c, malformed != nil)
	j = j.raw(`"finishReason":"`).raw(reason)
	switch reason {
	case geminiMalformed:
		j = j.raw(`","finishMessage":`).quote("Malformed function call: " + malformed.Name + " " + malformed.Arguments).raw(`,"index":0`)
	case geminiSafety:
		j = j.raw(`","index":0,"safetyRatings":[{"category":"HARM_CATEGORY_DANGEROUS_CONTENT","probability":"HIGH","blocked":true}]`)
	default:
		j = j.raw(`","index":0`)
	}
	return j.raw(`}],"usageMetadata":`).geminiUsage(c.reportedUsage()).raw(`,`).geminiTail(c)
}

// geminiTail appends the members after the usage, and closes the object.
func (j jsonText) geminiTail(c Completion) jsonText {
	return j.raw(`"modelVersion":`).quote(c.Model).raw(`,"responseId":`).quote(c.ID).raw(`}`)
}

// geminiUsage appends token counts. Unlike in llm.Usage the prompt includes cached tokens, and the
// output of the candidates excludes thoughts.
func (j jsonText) geminiUsage(u llm.Usage) jsonText {
	prompt, shown := addUp(u.Input, u.CachedInput, u.CacheWrite), max(0, u.Output-u.Reasoning)
	j = j.raw(`{"promptTokenCount":`).int(prompt).raw(`,"candidatesTokenCount":`).int(shown).
		raw(`,"totalTokenCount":`).int(addUp(prompt, shown, u.Reasoning))
	if u.CachedInput > 0 {
		j = j.raw(`,"cachedContentTokenCount":`).int(u.CachedInput)
	}
	j = j.raw(`,"promptTokensDetails":[{"modality":"TEXT","tokenCount":`).int(prompt).raw(`}]`)
	if u.Reasoning > 0 {
		j = j.raw(`,"thoughtsTokenCount":`).int(u.Reasoning)
	}
	return j.raw(`}`)
}

// encodeGeminiChunks returns a stream of chunks. The last one has the finish reason and the usage.
func encodeGeminiChunks(c Completion, parts []part, malformed *llm.ToolCall) []Frame {
	n, shown := 0, 0
	for _, p := range parts {
		n += countPieces(p.text)
		shown += len(p.text)
	}
	tail := make(jsonText, 0, 60+len(c.ID)+len(c.Model)).raw(`"role":"model"},"index":0}],`).geminiTail(c).raw("\n\n")
	events := n + len(parts) + 2
	s := newStream(c, "", n, events, events*(90+len(tail))+shown*9/4+600)
	chunk := func(p part, text string, pieces int) {
		s.buf = s.buf.raw(geminiChunk).raw(`"parts":[`).geminiPart(p, text).raw("],")
		s.buf = append(s.buf, tail...)
		s.frame()
		s.skip(pieces)
	}
	for _, p := range parts {
		if p.kind == callPart || p.text == "" {
			chunk(p, p.text, countPieces(p.text))
			continue
		}
		for piece := range piecesOf(p.text) {
			chunk(p, piece, 1)
		}
	}
	last := `"parts":[{"text":""}],`
	if len(parts) == 0 {
		last = ""
		s.buf = append(s.buf.raw(geminiChunk), tail...)
		s.frame()
	}
	s.buf = s.buf.raw(geminiChunk).raw(last).raw(`"role":"model"},`).geminiEnd(c, malformed).raw("\n\n")
	s.frame()
	return s.frames
}

// geminiChunk begins an event up to the members of its content.
const geminiChunk = sseData + `{"candidates":[{"content":{`

// geminiArray returns the chunks of a stream as one list.
func geminiArray(frames []Frame) jsonText {
	list := jsonText("[")
	for i, f := range frames[1:] {
		if i > 0 {
			list = list.raw(",\r\n")
		}
		list = append(list, bytes.TrimSuffix(bytes.TrimPrefix(f.Data, []byte(sseData)), []byte("\n\n"))...)
	}
	return append(list, ']')
}
