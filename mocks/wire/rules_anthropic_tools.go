package wire

import (
	"cmp"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// eachTool calls do with each tool until it returns an error.
func (r *ruledRequest) eachTool(do func(param string, t *anthropicTool) *APIError) *APIError {
	if r.tools == nil {
		r.read("tools", &r.tools)
	}
	for i := range r.tools {
		t := &r.tools[i]
		if err := do(fmt.Sprintf("tools.%d.%s", i, cmp.Or(t.Type, "custom")), t); err != nil {
			return err
		}
	}
	return nil
}

// toolSchemas requires that the input of a client's tool is an object, see tools.input_schema in
// https://docs.anthropic.com/en/api/messages.
func toolSchemas(r *ruledRequest) *APIError {
	return r.eachTool(func(param string, t *anthropicTool) *APIError {
		if t.Type != "" && t.Type != "custom" {
			return nil
		}
		var schema fields
		schema.read(t.InputSchema)
		switch kind := schema.get("type"); {
		case kind == nil:
			return refused(param+".input_schema.type", "Field required")
		case kind.Kind() != '"' || unquoted(kind) != "object":
			return refused(param+".input_schema.type", "Input should be 'object'")
		}
		return nil
	})
}

// toolNames are the names of the tools that the provider defines, by their types:
// https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/tool-reference.
var toolNames = map[string]string{
	"bash_20241022":                   "bash",
	"bash_20250124":                   "bash",
	"code_execution_20250522":         "code_execution",
	"code_execution_20250825":         "code_execution",
	"code_execution_20260120":         "code_execution",
	"code_execution_20260521":         "code_execution",
	"computer_20241022":               "computer",
	"computer_20250124":               "computer",
	"computer_20251124":               "computer",
	"memory_20250818":                 "memory",
	"text_editor_20241022":            "str_replace_editor",
	"text_editor_20250124":            "str_replace_editor",
	"text_editor_20250429":            "str_replace_based_edit_tool",
	"text_editor_20250728":            "str_replace_based_edit_tool",
	"tool_search_tool_bm25":           "tool_search_tool_bm25",
	"tool_search_tool_bm25_20251119":  "tool_search_tool_bm25",
	"tool_search_tool_regex":          "tool_search_tool_regex",
	"tool_search_tool_regex_20251119": "tool_search_tool_regex",
	"web_fetch_20250910":              "web_fetch",
	"web_fetch_20260209":              "web_fetch",
	"web_fetch_20260309":              "web_fetch",
	"web_fetch_20260318":              "web_fetch",
	"web_search_20250305":             "web_search",
	"web_search_20260209":             "web_search",
	"web_search_20260318":             "web_search",
}

func providedTools(r *ruledRequest) *APIError {
	return r.eachTool(func(param string, t *anthropicTool) *APIError {
		if name := toolNames[t.Type]; name != "" && t.Name != "" && t.Name != name {
			return refused(param+".name", "Input should be '%s'", name)
		}
		return nil
	})
}

// eachMark calls do with the field cache_control of each block of the messages and the instructions, and of each tool, until it
// returns an error.
func (r *ruledRequest) eachMark(do func(param string, mark jsontext.Value) *APIError) *APIError {
	const field = ".cache_control"
	err := r.eachBlock(func(param string, b *markedBlock) *APIError { return do(param+"."+b.Type+field, b.CacheControl) })
	if err != nil {
		return err
	}
	var system textOrList[markedBlock]
	r.read("system", &system)
	for i := range system.list {
		if err := do(fmt.Sprintf("system.%d", i)+field, system.list[i].CacheControl); err != nil {
			return err
		}
	}
	return r.eachTool(func(param string, t *anthropicTool) *APIError { return do(param+field, t.CacheControl) })
}

// checkTTL validates how long a mark lasts, see
// https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching#1-hour-cache-duration.
func checkTTL(param string, mark jsontext.Value) *APIError {
	var marked fields
	marked.read(mark)
	ttl := marked.get("ttl")
	if !given(ttl) || ttl.Kind() == '"' && (unquoted(ttl) == "5m" || unquoted(ttl) == "1h") {
		return nil
	}
	return refused(param+".ephemeral.ttl", "Input should be '5m' or '1h'")
}
