package wire

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// Encode implements Codec. The times are those of OpenAIChat.
func (OpenAIResponses) Encode(call Call, c Completion) []Frame {
	c.Finish = c.FinishReason()
	r := &response{call: &call, answer: c, parts: c.parts()}
	for i := range r.parts {
		if p := &r.parts[i]; p.kind == callPart && call.kindOf(p.call.Name).item == itemCustomCall {
			p.text = customInput(p.text)
		}
	}
	if call.Stream {
		return r.stream()
	}
	frames := jsonFrames(c.ID, r.append(make([]byte, 0, 1100+outputLen(c)*9/8), true))
	frames[0].Delay = addUp(c.First, generation(c))
	return frames
}

// response is an answer on its way into frames.
type response struct {
	call   *Call
	answer Completion
	parts  []part
	failed *APIError // that ended it; nil if none did
}

// append appends the object of the whole answer, or while it is under way,
// what is known before.
func (r *response) append(b []byte, done bool) []byte {
	status, incomplete := "in_progress", ""
	switch {
	case r.failed != nil:
		status = "failed"
	case done:
		status, incomplete = responseStatus(r.answer)
	}
	created := unixSeconds(r.answer.Created)
	b = append(b, `{"id":`...)
	b = appendString(b, r.answer.ID)
	b = append(b, `,"object":"response","created_at":`...)
	b = strconv.AppendInt(b, created, 10)
	b = append(b, `,"status":"`...)
	b = append(b, status...)
	b = append(b, `","background":false,"error":`...)
	b = r.appendFailure(b)
	b = append(b, `,"incomplete_details":`...)
	if incomplete == "" {
		b = append(b, "null"...)
	} else {
		b = append(b, `{"reason":"`...)
		b = append(b, incomplete...)
		b = append(b, `"}`...)
	}
	b = append(b, `,"instructions":null,"max_output_tokens":`...)
	if n := r.call.MaxTokens; n > 0 {
		b = strconv.AppendInt(b, int64(n), 10)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"model":`...)
	b = appendString(b, r.answer.Model)
	b = append(b, `,"output":[`...)
	if done {
		for i := range r.parts {
			b = append(b, listSeparator(i, "")...)
			b = r.appendItem(b, i, true)
		}
	}
	b = append(b, `],"parallel_tool_calls":true,"previous_response_id":`...)
	b = appendStringOrNull(b, r.call.previous)
	b = append(b, `,"reasoning":{"effort":null,"summary":null},"store":`...)
	b = strconv.AppendBool(b, r.call.store != nil)
	b = append(b, `,"temperature":`...)
	if t := r.call.Temperature; t != nil {
		b = strconv.AppendFloat(b, *t, 'g', -1, 64)
	} else {
		b = append(b, '1')
	}
	b = append(b, `,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_p":1,"truncation":"disabled","usage":`...)
	if done {
		b = appendResponseUsage(b, r.answer.reportedUsage())
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"user":null,"metadata":`...)
	return append(r.appendMetadata(b), '}')
}

// appendFailure appends the error that ended the answer. It has no type, so that
// this stands for a code that is not given.
func (r *response) appendFailure(b []byte) []byte {
	if r.failed == nil {
		return append(b, "null"...)
	}
	b = append(b, `{"code":`...)
	b = appendString(b, cmp.Or(r.failed.Code, r.failed.Type))
	b = append(b, `,"message":`...)
	return append(appendString(b, r.failed.Message), '}')
}

func (r *response) appendMetadata(b []byte) []byte {
	b = append(b, '{')
	n := 0
	member := func(key, value string) {
		b = append(b, listSeparator(n, "")...)
		n++
		b = append(appendString(b, key), ':')
		b = appendString(b, value)
	}
	if p := r.call.Purpose; p != "" {
		member("purpose", p)
	}
	for _, key := range slices.Sorted(maps.Keys(r.call.Tags)) {
		member(key, r.call.Tags[key])
	}
	return append(b, '}')
}

// appendResponseUsage appends token counts as OpenAI gives them: cached tokens are
// part of the input's there, unlike in llm.Usage.
func appendResponseUsage(b []byte, u llm.Usage) []byte {
	input := addUp(u.Input, u.CachedInput, u.CacheWrite)
	b = append(b, `{"input_tokens":`...)
	b = strconv.AppendInt(b, int64(input), 10)
	b = append(b, `,"input_tokens_details":{"cached_tokens":`...)
	b = strconv.AppendInt(b, int64(u.CachedInput), 10)
	b = append(b, `,"cache_write_tokens":`...)
	b = strconv.AppendInt(b, int64(u.CacheWrite), 10)
	b = append(b, `},"output_tokens":`...)
	b = strconv.AppendInt(b, int64(u.Output), 10)
	b = append(b, `,"output_tokens_details":{"reasoning_tokens":`...)
	b = strconv.AppendInt(b, int64(u.Reasoning), 10)
	b = append(b, `},"total_tokens":`...)
	b = strconv.AppendInt(b, int64(addUp(input, u.Output)), 10)
	return append(b, '}')
}

// itemPrefixes are the prefixes of the ids of items.
var itemPrefixes = map[string]string{
	itemMessage: "msg_", itemReasoning: "rs_", itemFunctionCall: "fc_", itemCustomCall: "ctc_",
	"local_shell_call": "lsh_", "shell_call": "sh_", "apply_patch_call": "apc_",
}

// kind returns the type of the item of part i.
func (r *response) kind(i int) toolKind {
	switch p := &r.parts[i]; p.kind {
	case thinkingPart:
		return toolKind{item: itemReasoning}
	case callPart:
		return r.call.kindOf(p.call.Name)
	}
	return toolKind{item: itemMessage}
}

// itemID returns the id of the item of part i.
func (r *response) itemID(i int) string {
	return itemPrefixes[r.kind(i).item] + r.answer.ID + "_" + strconv.Itoa(i)
}

// appendItem appends the item of part i, whole or as it is before its text comes.
func (r *response) appendItem(b []byte, i int, whole bool) []byte {
	p, kind := &r.parts[i], r.kind(i)
	b = append(b, `{"id":`...)
	b = appendString(b, r.itemID(i))
	b = append(b, `,"type":"`...)
	b = append(b, kind.item...)
	b = append(b, '"')
	switch p.kind {
	case thinkingPart:
		return r.appendReasoning(b, p, whole)
	case callPart:
		return appendCall(b, p, kind, whole)
	}
	b = r.appendStatus(b, i, whole)
	b = append(b, `,"role":"assistant","content":[`...)
	if whole {
		b = appendContent(b, p, p.text)
	}
	return append(b, `]}`...)
}

// appendStatus appends how far the item of part i is. It is the last one that an
// answer's limit cuts off.
func (r *response) appendStatus(b []byte, i int, whole bool) []byte {
	status := "in_progress"
	if whole {
		status = "completed"
		if i == len(r.parts)-1 {
			status, _ = responseStatus(r.answer)
		}
	}
	b = append(b, `,"status":"`...)
	b = append(b, status...)
	return append(b, '"')
}

func (r *response) appendReasoning(b []byte, p *part, whole bool) []byte {
	b = append(b, `,"summary":[`...)
	if whole {
		b = appendSummary(b, p.text)
	}
	b = append(b, `],"encrypted_content":`...)
	if whole && r.call.encrypted {
		b = appendString(b, signature(p.text))
	} else {
		b = append(b, "null"...)
	}
	return append(b, '}')
}

func appendSummary(b []byte, text string) []byte {
	b = append(b, `{"type":"summary_text","text":`...)
	return append(appendString(b, text), '}')
}

// appendContent appends a part of a message's content.
func appendContent(b []byte, p *part, text string) []byte {
	if p.kind == refusalPart {
		b = append(b, `{"type":"refusal","refusal":`...)
		return append(appendString(b, text), '}')
	}
	b = append(b, `{"type":"output_text","annotations":[],"logprobs":[],"text":`...)
	return append(appendString(b, text), '}')
}

// appendCall appends a tool call after its item's type.
func appendCall(b []byte, p *part, kind toolKind, whole bool) []byte {
	status := "completed"
	if !whole {
		status = "in_progress"
	}
	b = append(b, `,"status":"`...)
	b = append(b, status...)
	b = append(b, `","call_id":`...)
	b = appendString(b, p.call.ID)
	if !kind.object {
		b = append(b, `,"name":`...)
		b = appendString(b, cmp.Or(kind.name, p.call.Name))
	}
	if kind.namespace != "" {
		b = append(b, `,"namespace":`...)
		b = appendString(b, kind.namespace)
	}
	b = append(append(append(b, `,"`...), kind.field...), `":`...)
	switch {
	case kind.object:
		b = append(b, toolInput(p.text)...)
	case whole:
		b = appendString(b, p.text)
	default:
		b = append(b, `""`...)
	}
	return append(b, '}')
}

// customInput is the text that a custom tool is called with: the only member,
// input, of the arguments, or else the arguments themselves.
func customInput(arguments string) string {
	var v map[string]jsontext.Value
	if jsonv2.Unmarshal([]byte(arguments), &v) != nil || len(v) != 1 || v["input"].Kind() != '"' {
		return arguments
	}
	return unquoted(v["input"])
}
