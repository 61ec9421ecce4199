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

// Encode implements Codec, with the timing of OpenAIChat.
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
	frames := jsonFrames(c.ID, r.append(make(jsonText, 0, 1100+outputLen(c)*9/8), true))
	frames[0].Delay = addUp(c.First, generation(c))
	return frames
}

// response is an answer that is being encoded.
type response struct {
	call   *Call
	answer Completion
	parts  []part
	failed *APIError // ended the answer; may be nil
}

// append appends the answer: without its output unless it is done.
func (r *response) append(j jsonText, done bool) jsonText {
	status, incomplete := "in_progress", ""
	switch {
	case r.failed != nil:
		status = "failed"
	case done:
		status, incomplete = responseStatus(r.answer)
	}
	j = j.raw(`{"id":`).quote(r.answer.ID).raw(`,"object":"response","created_at":`).unix(r.answer.Created).
		raw(`,"status":"`).raw(status).raw(`","background":false,"completed_at":`)
	if status == "completed" {
		j = j.unix(r.answer.Created)
	} else {
		j = j.raw("null")
	}
	j = j.raw(`,"error":`)
	if r.failed == nil {
		j = j.raw("null")
	} else { // the object has no type, which replaces a missing code
		j = j.raw(`{"code":`).quote(cmp.Or(r.failed.Code, r.failed.Type)).raw(`,"message":`).quote(r.failed.Message).raw("}")
	}
	j = j.raw(`,"incomplete_details":`)
	if incomplete == "" {
		j = j.raw("null")
	} else {
		j = j.raw(`{"reason":"`).raw(incomplete).raw(`"}`)
	}
	j = j.raw(`,"instructions":null,"max_output_tokens":`)
	if n := r.call.MaxTokens; n > 0 {
		j = j.int(n)
	} else {
		j = j.raw("null")
	}
	j = j.raw(`,"model":`).quote(r.answer.Model).raw(`,"output":[`)
	if done {
		for i := range r.parts {
			j = r.appendItem(j.comma(i), i, true)
		}
	}
	j = j.raw(`],"parallel_tool_calls":true,"previous_response_id":`).quoteOrNull(r.call.previous).
		raw(`,"reasoning":{"effort":null,"summary":null},"store":`).raw(strconv.FormatBool(r.call.store != nil)).raw(`,"temperature":`)
	if t := r.call.Temperature; t != nil {
		j = strconv.AppendFloat(j, *t, 'g', -1, 64)
	} else {
		j = j.raw("1")
	}
	j = j.raw(`,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_p":1,"frequency_penalty":0,"presence_penalty":0`).
		raw(`,"truncation":"disabled","usage":`)
	if done {
		j = j.responseUsage(r.answer.reportedUsage())
	} else {
		j = j.raw("null")
	}
	return r.appendMetadata(j.raw(`,"user":null,"metadata":`)).raw("}")
}

func (r *response) appendMetadata(j jsonText) jsonText {
	j = j.raw("{")
	n := 0
	member := func(key, value string) {
		j = j.comma(n).quote(key).raw(":").quote(value)
		n++
	}
	if p := r.call.Purpose; p != "" {
		member("purpose", p)
	}
	for _, key := range slices.Sorted(maps.Keys(r.call.Tags)) {
		member(key, r.call.Tags[key])
	}
	return j.raw("}")
}

// responseUsage appends token counts. Unlike in llm.Usage, the input includes cached tokens.
func (j jsonText) responseUsage(u llm.Usage) jsonText {
	input := addUp(u.Input, u.CachedInput, u.CacheWrite)
	return j.raw(`{"input_tokens":`).int(input).
		raw(`,"input_tokens_details":{"cached_tokens":`).int(u.CachedInput).raw(`,"cache_write_tokens":`).int(u.CacheWrite).
		raw(`},"output_tokens":`).int(u.Output).raw(`,"output_tokens_details":{"reasoning_tokens":`).int(u.Reasoning).
		raw(`},"total_tokens":`).int(addUp(input, u.Output)).raw("}")
}

// itemPrefixes maps types of items to the prefixes of their ids.
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
	default:
		return toolKind{item: itemMessage}
	}
}

func (r *response) itemID(i int) string {
	return itemPrefixes[r.kind(i).item] + r.answer.ID + "_" + strconv.Itoa(i)
}

// appendItem appends the item of part i, with or without its content.
func (r *response) appendItem(j jsonText, i int, whole bool) jsonText {
	p, kind := &r.parts[i], r.kind(i)
	j = j.raw(`{"id":`).quote(r.itemID(i)).raw(`,"type":"`).raw(kind.item).raw(`"`)
	switch p.kind {
	case thinkingPart:
		j = j.raw(`,"summary":[`)
		if whole {
			j = j.summary(p.text)
		}
		encrypted := ""
		if whole && r.call.encrypted {
			encrypted = signature(p.text)
		}
		return j.raw(`],"encrypted_content":`).quoteOrNull(encrypted).raw("}")
	case callPart:
		return j.raw(`,"status":"`).raw(itemStatus(whole)).raw(`"`).itemCall(p, kind, whole)
	default:
		status := itemStatus(whole)
		if whole && i == len(r.parts)-1 { // the limit of an answer truncates the last part
			status, _ = responseStatus(r.answer)
		}
		j = j.raw(`,"status":"`).raw(status).raw(`","role":"assistant","content":[`)
		if whole {
			j = j.content(p, p.text)
		}
		return j.raw(`]}`)
	}
}

func itemStatus(whole bool) string {
	if whole {
		return "completed"
	}
	return "in_progress"
}

// summary appends the summary of a thought.
func (j jsonText) summary(text string) jsonText {
	return j.raw(`{"type":"summary_text","text":`).quote(text).raw("}")
}

// content appends a part of the content of a message.
func (j jsonText) content(p *part, text string) jsonText {
	if p.kind == refusalPart {
		return j.raw(`{"type":"refusal","refusal":`).quote(text).raw("}")
	}
	return j.raw(`{"type":"output_text","annotations":[],"logprobs":[],"text":`).quote(text).raw("}")
}

// itemCall appends a tool call after the status of its item.
func (j jsonText) itemCall(p *part, kind toolKind, whole bool) jsonText {
	j = j.raw(`,"call_id":`).quote(p.call.ID)
	if !kind.object {
		j = j.raw(`,"name":`).quote(cmp.Or(kind.name, p.call.Name))
	}
	if kind.namespace != "" {
		j = j.raw(`,"namespace":`).quote(kind.namespace)
	}
	j = j.raw(`,"`).raw(kind.field).raw(`":`)
	switch {
	case kind.object:
		j = j.raw(toolInput(p.text))
	case whole:
		j = j.quote(p.text)
	default:
		j = j.raw(`""`)
	}
	return j.raw("}")
}

// customInput returns the text for a custom tool: the argument input if it is the only one,
// otherwise all arguments in JSON.
func customInput(arguments string) string {
	var v map[string]jsontext.Value
	if jsonv2.Unmarshal([]byte(arguments), &v) != nil || len(v) != 1 || v["input"].Kind() != '"' {
		return arguments
	}
	return unquoted(v["input"])
}
