package wire

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// geminiModelRole is the role of the model's turns.
const geminiModelRole = "model"

// google returns the provider's error for an invalid request. A field is named in its details.
func google(field, format string, args ...any) *APIError {
	return &APIError{
		Status: http.StatusBadRequest, Type: googleStatus(http.StatusBadRequest), Param: field, Message: fmt.Sprintf(format, args...),
	}
}

// googleRule returns the error for a broken rule about a field of a request.
func googleRule(field, format string, args ...any) *APIError {
	return google("", "* GenerateContentRequest.%s: %s\n", field, fmt.Sprintf(format, args...))
}

// googleDecodeError reports the field with a wrong type, or that the body is not JSON.
func googleDecodeError(err error) *APIError {
	e, ok := errors.AsType[*jsonv2.SemanticError](err)
	if !ok || e.JSONPointer == "" {
		return google("", "Invalid JSON payload received. %.200s", err)
	}
	var field strings.Builder
	for token := range e.JSONPointer.Tokens() {
		switch {
		case token != "" && token[0] >= '0' && token[0] <= '9':
			fmt.Fprintf(&field, "[%.20s]", token)
		case field.Len() > 0:
			field.WriteByte('.')
			fallthrough
		default:
			fmt.Fprintf(&field, "%.64s", token)
		}
	}
	name := fmt.Sprintf("%.200s", field.String())
	return google(name, "Invalid value at '%s': expected %s, not %s", name, goTypeName(e.GoType), kindName(e.JSONKind))
}

// check validates a request as the provider does, cheapest rules first, and pairs the calls of
// functions with their responses.
func (r *geminiRequest) check() *APIError {
	if r.Model == "" {
		return googleRule("model", "unexpected model name format")
	}
	return firstError(r.checkConfig, r.checkTools, r.checkContents, r.pair, r.checkSignatures)
}

func (r *geminiRequest) checkConfig() *APIError {
	c := &r.GenerationConfig
	field := func(name string) string { return "generation_config." + name }
	for _, p := range []struct {
		name  string
		value *float64
		limit float64
	}{{"temperature", c.Temperature, 2}, {"top_p", c.TopP, 1}} {
		if p.value != nil && (*p.value < 0 || *p.value > p.limit) {
			return googleRule(field(p.name), "%s must be in the range [0.0, %.1f].", p.name, p.limit)
		}
	}
	switch {
	case c.TopK != nil && *c.TopK < 1:
		return googleRule(field("top_k"), "top_k must be positive.")
	case c.MaxOutputTokens != nil && *c.MaxOutputTokens < 1:
		return googleRule(field("max_output_tokens"), "max_output_tokens must be positive.")
	case c.CandidateCount != nil && *c.CandidateCount < 1:
		return googleRule(field("candidate_count"), "candidate_count must be positive.")
	case c.CandidateCount != nil && *c.CandidateCount > 1:
		return google("", "Multiple candidates is not enabled for this model")
	case len(c.StopSequences) > 5:
		return googleRule(field("stop_sequences"), "at most 5 stop sequences are allowed.")
	case c.ThinkingConfig.ThinkingBudget != nil && c.ThinkingConfig.ThinkingLevel != "":
		return google("", "You can only set only one of thinking budget and thinking level.")
	}
	return r.checkFormat()
}

// checkFormat validates the output format. Models before Gemini 3 do not call functions and
// answer in JSON at once.
func (r *geminiRequest) checkFormat() *APIError {
	c := &r.GenerationConfig
	switch c.ResponseMIMEType {
	case "", "text/plain":
		if given(c.ResponseSchema) || given(c.ResponseJSONSchema) {
			return googleRule("generation_config.response_schema", "only allowed if response_mime_type is `application/json` or `text/x.enum`.")
		}
		return nil
	case "application/json", "text/x.enum", "application/xml", "application/yaml":
	default:
		return googleRule("generation_config.response_mime_type",
			"allowed mimetypes are `text/plain`, `application/json`, `application/xml`, `application/yaml` and `text/x.enum`.")
	}
	if given(c.ResponseSchema) && given(c.ResponseJSONSchema) {
		return googleRule("generation_config", "only one of response_schema and response_json_schema may be set.")
	}
	for _, old := range []string{"gemini-1", "gemini-2"} {
		if strings.HasPrefix(r.Model, old) && len(r.functions()) > 0 {
			return google("", "Function calling with a response mime type: '%s' is unsupported", c.ResponseMIMEType)
		}
	}
	return nil
}

// functions returns the names of the declared functions.
func (r *geminiRequest) functions() []string {
	var names []string
	for i := range r.Tools {
		for _, f := range r.Tools[i].FunctionDeclarations {
			names = append(names, f.Name)
		}
	}
	return names
}

var functionPattern = lazyregexp.New(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`)

func (r *geminiRequest) checkTools() *APIError {
	seen := map[string]bool{}
	for i := range r.Tools {
		for j, f := range r.Tools[i].FunctionDeclarations {
			field := func(name string) string { return fmt.Sprintf("tools[%d].function_declarations[%d].%s", i, j, name) }
			switch {
			case !functionPattern().MatchString(f.Name):
				return googleRule(field("name"), "Invalid function name. Must start with a letter or an underscore. Must be alphanumeric "+
					"(a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.")
			case seen[f.Name]:
				return google("", "Duplicate function declaration found: %s", f.Name)
			case given(f.Parameters) && given(f.ParametersJSONSchema):
				return googleRule(field("parameters"), "only one of parameters and parameters_json_schema may be set.")
			}
			seen[f.Name] = true
			if name, schema := f.schema(); given(schema) && schema.Kind() != '{' {
				return google(field(name), "Invalid value at '%s': expected an object, not %s", field(name), kindName(schema.Kind()))
			}
		}
	}
	return r.checkMode(seen)
}

// checkMode validates when the model calls functions, see
// https://ai.google.dev/api/caching#FunctionCallingConfig.
func (r *geminiRequest) checkMode(functions map[string]bool) *APIError {
	c := &r.ToolConfig.FunctionCallingConfig
	switch c.Mode {
	case "", "MODE_UNSPECIFIED", "AUTO", "NONE":
		if len(c.Allowed) > 0 {
			return google("", "Please set allowed_function_names only when function calling mode is ANY or VALIDATED.")
		}
		return nil
	case "ANY", "VALIDATED":
	default:
		const field = "tool_config.function_calling_config.mode"
		const kind = "type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionCallingConfig.Mode"
		return google(field, "Invalid value at '%s' (%s), \"%.64s\"", field, kind, c.Mode)
	}
	if len(functions) == 0 {
		return google("", "Function calling config is set without function_declarations.")
	}
	for _, name := range c.Allowed {
		if !functions[name] {
			return google("", "allowed_function_names should be a subset of the declared functions: '%.64s' is not declared.", name)
		}
	}
	return nil
}

func (r *geminiRequest) checkContents() *APIError {
	if len(r.Contents) == 0 {
		return googleRule("contents", "contents is not specified")
	}
	if r.SystemInstruction != nil {
		if err := r.SystemInstruction.check("system_instruction"); err != nil {
			return err
		}
	}
	for i := range r.Contents {
		if !slices.Contains([]string{"", "user", geminiModelRole, "function"}, r.Contents[i].Role) {
			return google("", "Please use a valid role: user, model.")
		}
		if err := r.Contents[i].check(fmt.Sprintf("contents[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

func (b *geminiBlock) check(field string) *APIError {
	if len(b.Parts) == 0 {
		return googleRule(field+".parts", "contents.parts must not be empty.")
	}
	for j := range b.Parts {
		if err := b.Parts[j].check(fmt.Sprintf("%s.parts[%d]", field, j), b.Role == geminiModelRole); err != nil {
			return err
		}
	}
	return nil
}

// check validates one part by itself.
func (p *geminiPart) check(field string, model bool) *APIError {
	if err := p.checkBytes(field); err != nil {
		return err
	}
	members := []bool{
		p.Text != nil && *p.Text != "" || p.ThoughtSignature != "", p.InlineData != nil, p.FileData != nil,
		p.FunctionCall != nil, p.FunctionResponse != nil,
		given(p.ExecutableCode), given(p.CodeExecutionResult), given(p.ToolCall), given(p.ToolResponse),
	}
	switch {
	case !slices.Contains(members, true) && !model: // the model's own turns have empty texts
		return googleRule(field+".data", "required oneof field 'data' must have one initialized field")
	case p.FunctionCall != nil && p.FunctionCall.Name == "":
		return googleRule(field+".function_call.name", "Name cannot be empty.")
	case p.FunctionCall != nil && given(p.FunctionCall.Args) && p.FunctionCall.Args.Kind() != '{':
		return google(field+".function_call.args", "Invalid value at '%s.function_call.args': expected an object", field)
	case p.FunctionCall != nil && !model:
		return google("", "Please ensure that function call turn has the role model.")
	case p.FunctionResponse != nil && p.FunctionResponse.Name == "":
		return googleRule(field+".function_response.name", "Name cannot be empty.")
	case p.FunctionResponse != nil && p.FunctionResponse.Response.Kind() != '{':
		return google(field+".function_response.response", "Invalid value at '%s.function_response.response': expected an object", field)
	case p.FunctionResponse != nil && model:
		return google("", "Please ensure that function response turn has the role user.")
	}
	return nil
}

// checkBytes validates the attachment of a part and its signature, which are base64.
func (p *geminiPart) checkBytes(field string) *APIError {
	invalid := func(name string) *APIError {
		return google(field+name, "Invalid value at '%s%s' (TYPE_BYTES), Base64 decoding failed", field, name)
	}
	if d := p.InlineData; d != nil {
		switch {
		case d.MIMEType == "":
			return google("", "Unsupported MIME type: ")
		case !d.Data.given:
			return googleRule(field+".inline_data.data", "must be set.")
		case !d.Data.valid:
			return invalid(".inline_data.data")
		}
	}
	if p.FileData != nil && p.FileData.FileURI == "" {
		return googleRule(field+".file_data.file_uri", "must be set.")
	}
	var signed payload
	if signed.readBase64(standardAlphabet.Replace(p.ThoughtSignature)); p.ThoughtSignature != "" && !signed.valid {
		return invalid(".thought_signature")
	}
	return nil
}

// checkSignatures requires the signature of the first function call in each content of the
// current turn, which begins with the last text of the user, see
// https://ai.google.dev/gemini-api/docs/thought-signatures. Models before Gemini 3 do not need
// it.
func (r *geminiRequest) checkSignatures() *APIError {
	if !strings.HasPrefix(r.Model, "gemini-3") {
		return nil
	}
	for i := len(r.Contents) - 1; i >= 0; i-- {
		b := &r.Contents[i]
		first := slices.IndexFunc(b.Parts, func(p geminiPart) bool { return p.FunctionCall != nil })
		results := slices.ContainsFunc(b.Parts, func(p geminiPart) bool { return p.FunctionResponse != nil })
		switch {
		case b.Role != geminiModelRole && !results:
			return nil
		case first >= 0 && b.Parts[first].ThoughtSignature == "":
			return google("", "Function call is missing a thought_signature in functionCall parts. This is required for tools to work "+
				"correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call "+
				"`default_api:%s` , position %d. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.",
				b.Parts[first].FunctionCall.Name, i+1)
		}
	}
	return nil
}
