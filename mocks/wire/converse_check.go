package wire

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rehearse-dev/rehearse/llm"
)

// maxConverseName limits the names of tools.
const maxConverseName = 64

// invalidConverse returns Bedrock's error for an invalid request.
func invalidConverse(format string, args ...any) *APIError {
	return &APIError{Status: http.StatusBadRequest, Type: "ValidationException", Message: fmt.Sprintf(format, args...)}
}

// unsatisfied returns the error for a value that its type does not allow.
func unsatisfied(value any, field, constraint string) *APIError {
	return invalidConverse("1 validation error detected: Value '%.64s' at '%s' failed to satisfy constraint: %s",
		fmt.Sprint(value), field, constraint)
}

// converseDecodeError reports the field with a wrong type, or that the body is not JSON.
func converseDecodeError(err error) *APIError {
	e := invalidConverse("The request's body is not one JSON object: %.200s", err)
	e.Type = "SerializationException"
	if s, ok := errors.AsType[*jsonv2.SemanticError](err); ok && s.JSONPointer != "" {
		e.Message = fmt.Sprintf("The field %.200s cannot be %s: it is %s.",
			strings.Join(slices.Collect(s.JSONPointer.Tokens()), "."), kindName(s.JSONKind), goTypeName(s.GoType))
	}
	return e
}

// check validates a request as the provider does, cheapest rules first.
func (r *converseRequest) check() *APIError {
	return firstError(r.checkInference, r.checkTools, r.checkMessages, r.checkPairs)
}

func (r *converseRequest) checkInference() *APIError {
	c := &r.Inference
	if c.MaxTokens != nil && *c.MaxTokens < 1 {
		return unsatisfied(*c.MaxTokens, "inferenceConfig.maxTokens", "Member must have value greater than or equal to 1")
	}
	for _, p := range []struct {
		name  string
		value *float64
	}{{"temperature", c.Temperature}, {"topP", c.TopP}} {
		switch field := "inferenceConfig." + p.name; {
		case p.value == nil:
		case *p.value < 0:
			return unsatisfied(*p.value, field, "Member must have value greater than or equal to 0")
		case *p.value > 1:
			return unsatisfied(*p.value, field, "Member must have value less than or equal to 1")
		}
	}
	return nil
}

func (r *converseRequest) checkTools() *APIError {
	c := r.ToolConfig
	if c == nil {
		return nil
	}
	if len(c.Tools) == 0 {
		return unsatisfied("[]", "toolConfig.tools", "Member must have length greater than or equal to 1")
	}
	seen := map[string]bool{}
	for i, t := range c.Tools {
		if t.Spec == nil {
			continue
		}
		at := fmt.Sprintf("toolConfig.tools.%d.member.toolSpec", i+1)
		name := t.Spec.Name
		schema := t.Spec.InputSchema.JSON
		var object struct {
			Type string `json:"type"`
		}
		switch {
		case !isName(name, maxConverseName):
			return unsatisfied(name, at+".name", "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+ and have length from 1 to 64")
		case seen[name]:
			return invalidConverse("The tool name %s is already defined at toolConfig.tools.%d.toolSpec.name.", name, i)
		case schema == nil:
			return unsatisfied("null", at+".inputSchema", "Member must not be null")
		case schema.Kind() != '{' || jsonv2.Unmarshal(schema, &object) != nil || object.Type != "object":
			return invalidConverse("The value at toolConfig.tools.%d.toolSpec.inputSchema.json.type must be one of the following: object.", i)
		}
		seen[name] = true
	}
	if t := c.Choice.Tool; t != nil && !seen[t.Name] {
		return invalidConverse("The tool %.64s in toolConfig.toolChoice.tool.name is not in toolConfig.tools.", t.Name)
	}
	return nil
}

func (r *converseRequest) checkMessages() *APIError {
	if len(r.Messages) == 0 {
		return invalidConverse("The messages field is required. Add a message to the messages field and try again.")
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		switch role := llm.Role(m.Role); {
		case role != llm.User && role != llm.Assistant:
			return unsatisfied(m.Role, fmt.Sprintf("messages.%d.member.role", i+1), "Member must satisfy enum value set: [user, assistant]")
		case i == 0 && role != llm.User:
			return invalidConverse("A conversation must start with a user message. Try again with a conversation that starts with a user message.")
		case i > 0 && m.Role == r.Messages[i-1].Role:
			return invalidConverse("A conversation must alternate between user and assistant roles. " +
				"Make sure the conversation alternates between user and assistant roles and try again.")
		case len(m.Content) == 0:
			return invalidConverse("The content field in the Message object at messages.%d is empty. "+
				"Add a ContentBlock object to the content field and try again.", i)
		}
		for j := range m.Content {
			if err := r.checkBlock(&m.Content[j], fmt.Sprintf("messages.%d.content.%d", i, j)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkBlock validates one block by itself. It accepts unknown types.
func (r *converseRequest) checkBlock(b *converseBlock, at string) *APIError {
	if b.Text != nil && strings.TrimSpace(*b.Text) == "" {
		return invalidConverse("The text field in the ContentBlock object at %s is blank. Add text to the text field, and try again.", at)
	}
	if r.ToolConfig == nil && (b.ToolUse != nil || b.ToolResult != nil) {
		return invalidConverse("The toolConfig field must be defined when using toolUse and toolResult content blocks.")
	}
	if m, kind := b.media(); m != nil {
		switch p := m.payload(); {
		case !p.given:
			return invalidConverse("The source field of the %s at %s is empty. Add a source and try again.", kind, at)
		case p.inline && !p.valid:
			return invalidConverse("The content of the %s at %s is not valid base64.", kind, at)
		}
	}
	if t := b.ToolUse; t != nil {
		switch {
		case t.ID == "" || t.Name == "":
			return invalidConverse("The toolUse block at %s needs a toolUseId and a name.", at)
		case t.Input.Kind() != '{':
			return invalidConverse("The format of the value at %s.toolUse.input is invalid. Provide a json object for the field and try again.", at)
		}
	}
	if t := b.Reasoning; t != nil && strings.HasPrefix(t.Text.Signature, ownSignature) && t.Text.Signature != signature(t.Text.Text) {
		return invalidConverse("%s: Invalid `signature` in `thinking` block", at)
	}
	return nil
}

// checkPairs requires that the message after tool uses has exactly one result of each, and that
// there are no other results.
func (r *converseRequest) checkPairs() *APIError {
	var uses pending
	for i := range r.Messages {
		results := false
		for j := range r.Messages[i].Content {
			b := &r.Messages[i].Content[j]
			if b.ToolResult != nil {
				results = true
				if !uses.answer(b.ToolResult.ID) {
					return invalidConverse("The number of toolResult blocks at messages.%d.content exceeds "+
						"the number of toolUse blocks of previous turn.", i)
				}
			}
		}
		if left := uses.left(); len(left) > 0 {
			return expectedResults(i, left)
		}
		for j := range r.Messages[i].Content {
			if t := r.Messages[i].Content[j].ToolUse; t != nil && (results || !uses.ask(t.ID)) {
				return invalidConverse("The toolUse block at messages.%d.content.%d repeats an id, or is in a user message.", i, j)
			}
		}
	}
	if left := uses.left(); len(left) > 0 {
		return expectedResults(len(r.Messages), left)
	}
	return nil
}

// expectedResults reports the uses without a result in message i.
func expectedResults(i int, open []string) *APIError {
	return invalidConverse("Expected toolResult blocks at messages.%d.content for the following Ids: %.500s", i, strings.Join(open, ", "))
}
