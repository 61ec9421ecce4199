package wire

import (
	"encoding/json"
	"fmt"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// googleNames is the option for requests: protocol buffers in JSON have names in camelCase or with
// underscores.
var googleNames = jsonv2.MatchCaseInsensitiveNames(true)

// geminiRequest has the supported fields of a request.
type geminiRequest struct {
	Model             string                 `json:"model"`
	Contents          oneOrMore[geminiBlock] `json:"contents"`
	SystemInstruction *geminiBlock           `json:"systemInstruction"`
	Tools             oneOrMore[geminiTool]  `json:"tools"`
	ToolConfig        geminiToolConfig       `json:"toolConfig"`
	GenerationConfig  geminiGenerationConfig `json:"generationConfig"`
	Labels            map[string]string      `json:"labels"`
}

// geminiBlock is a content: a turn, or the instruction.
type geminiBlock struct {
	Role  string                `json:"role"`
	Parts oneOrMore[geminiPart] `json:"parts"`
}

// geminiPart is one part of a content, with the fields of all kinds.
type geminiPart struct {
	Text                *string         `json:"text"`
	Thought             bool            `json:"thought"`
	ThoughtSignature    string          `json:"thoughtSignature"`
	InlineData          *geminiBlob     `json:"inlineData"`
	FileData            *geminiFile     `json:"fileData"`
	FunctionCall        *geminiCall     `json:"functionCall"`
	FunctionResponse    *geminiResponse `json:"functionResponse"`
	ExecutableCode      jsontext.Value  `json:"executableCode"`
	CodeExecutionResult jsontext.Value  `json:"codeExecutionResult"`
	ToolCall            jsontext.Value  `json:"toolCall"`
	ToolResponse        jsontext.Value  `json:"toolResponse"`
}

type geminiBlob struct {
	MIMEType    string      `json:"mimeType"`
	Data        googleBytes `json:"data"`
	DisplayName string      `json:"displayName"`
}

type geminiFile struct {
	MIMEType    string `json:"mimeType"`
	FileURI     string `json:"fileUri"`
	DisplayName string `json:"displayName"`
}

type geminiCall struct {
	ID   string         `json:"id"`
	Name string         `json:"name"`
	Args jsontext.Value `json:"args"`
}

type geminiResponse struct {
	ID       string                `json:"id"`
	Name     string                `json:"name"`
	Response jsontext.Value        `json:"response"`
	Parts    oneOrMore[geminiPart] `json:"parts"`
}

type geminiTool struct {
	FunctionDeclarations oneOrMore[geminiFunction] `json:"functionDeclarations"`
}

type geminiFunction struct {
	Name                 string         `json:"name"`
	Description          string         `json:"description"`
	Parameters           jsontext.Value `json:"parameters"`
	ParametersJSONSchema jsontext.Value `json:"parametersJsonSchema"`
}

// schema returns the parameters in the one or the other form, and the name of the field.
func (f *geminiFunction) schema() (name string, schema jsontext.Value) {
	if given(f.ParametersJSONSchema) {
		return "parameters_json_schema", f.ParametersJSONSchema
	}
	return "parameters", f.Parameters
}

type geminiToolConfig struct {
	FunctionCallingConfig struct {
		Mode    string   `json:"mode"`
		Allowed []string `json:"allowedFunctionNames"`
	} `json:"functionCallingConfig"`
}

type geminiGenerationConfig struct {
	Temperature        *float64       `json:"temperature"`
	TopP               *float64       `json:"topP"`
	TopK               *float64       `json:"topK"`
	CandidateCount     *int           `json:"candidateCount"`
	MaxOutputTokens    *int           `json:"maxOutputTokens"`
	StopSequences      []string       `json:"stopSequences"`
	ResponseMIMEType   string         `json:"responseMimeType"`
	ResponseSchema     jsontext.Value `json:"responseSchema"`
	ResponseJSONSchema jsontext.Value `json:"responseJsonSchema"`
	ThinkingConfig     struct {
		ThinkingBudget *int   `json:"thinkingBudget"`
		ThinkingLevel  string `json:"thinkingLevel"`
	} `json:"thinkingConfig"`
}

// oneOrMore is a repeated field. Google also accepts a single value.
type oneOrMore[T any] []T

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *oneOrMore[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	switch d.PeekKind() {
	case '[':
		return jsonv2.UnmarshalDecode(d, (*[]T)(l))
	case 'n':
		*l = nil
		return d.SkipValue()
	default:
		*l = make([]T, 1)
		return jsonv2.UnmarshalDecode(d, &(*l)[0])
	}
}

// googleBytes is a payload in base64, of either alphabet.
type googleBytes struct{ payload }

var standardAlphabet = strings.NewReplacer("-", "+", "_", "/")

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (b *googleBytes) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, given, err := stringMember(d)
	if err == nil && given && text != "" {
		b.readBase64(standardAlphabet.Replace(text))
	}
	return err
}

// Decode implements Codec. Errors have the provider's status, and its messages as far as they are known.
func (g Gemini) Decode(body []byte) (Call, *APIError) {
	var r geminiRequest
	if err := jsonv2.Unmarshal(body, &r, googleNames); err != nil {
		return Call{}, googleDecodeError(err)
	}
	return g.decode(&r)
}

// DecodeCount parses a request to countTokens, which has contents or a whole request.
func (g Gemini) DecodeCount(body []byte) (Call, *APIError) {
	var r struct {
		Contents oneOrMore[geminiBlock] `json:"contents"`
		Request  *geminiRequest         `json:"generateContentRequest"`
	}
	if err := jsonv2.Unmarshal(body, &r, googleNames); err != nil {
		return Call{}, googleDecodeError(err)
	}
	if r.Request == nil {
		r.Request = &geminiRequest{Contents: r.Contents}
	}
	return g.decode(r.Request)
}

func (g Gemini) decode(r *geminiRequest) (Call, *APIError) {
	if g.Model != "" {
		r.Model = g.Model
	}
	r.Model = strings.TrimPrefix(r.Model, "models/")
	if err := r.check(); err != nil {
		return Call{}, err
	}
	return r.call(g.Stream), nil
}

// call returns the neutral form of a valid request.
func (r *geminiRequest) call(stream bool) Call {
	config := &r.GenerationConfig
	c := Call{IncludeUsage: true, Request: llm.Request{
		Model: r.Model, Stream: stream, Temperature: config.Temperature, Tags: r.Labels,
		JSONMode: config.ResponseMIMEType == "application/json",
		Messages: make([]llm.Message, 0, len(r.Contents)+1),
	}}
	if config.MaxOutputTokens != nil {
		c.MaxTokens = *config.MaxOutputTokens
	}
	if r.SystemInstruction != nil {
		if text := r.SystemInstruction.text(); text != "" {
			c.Messages = append(c.Messages, llm.Message{Role: llm.System, Content: text})
		}
	}
	for i := range r.Contents {
		c.Messages = r.Contents[i].neutral(c.Messages)
	}
	for i := range r.Tools {
		c.AnyTool = c.AnyTool || len(r.Tools[i].FunctionDeclarations) == 0 // tools of the provider's
		for _, f := range r.Tools[i].FunctionDeclarations {
			_, schema := f.schema()
			c.Tools = append(c.Tools, llm.Tool{Name: f.Name, Description: f.Description, Parameters: json.RawMessage(schema)})
		}
	}
	return c
}

// text returns the texts that are not thoughts, with a line break between them.
func (b *geminiBlock) text() string {
	texts := make([]string, 0, len(b.Parts))
	for i := range b.Parts {
		if p := &b.Parts[i]; p.Text != nil && !p.Thought {
			texts = append(texts, *p.Text)
		}
	}
	return joinTexts(texts, "\n")
}

// neutral appends a content in neutral form. As in Messages, each result of a function becomes a
// separate message after the text.
func (b *geminiBlock) neutral(to []llm.Message) []llm.Message {
	n := llm.Message{Role: llm.User, Content: b.text(), Attachments: geminiAttachments(b.Parts)}
	if b.Role == geminiModelRole {
		n.Role = llm.Assistant
	}
	var results []llm.Message
	for i := range b.Parts {
		switch p := &b.Parts[i]; {
		case p.FunctionCall != nil:
			arguments := "{}"
			if given(p.FunctionCall.Args) {
				arguments = string(p.FunctionCall.Args)
			}
			n.ToolCalls = append(n.ToolCalls, llm.ToolCall{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Arguments: arguments})
		case p.FunctionResponse != nil:
			f := p.FunctionResponse
			text, failed := f.text()
			results = append(results, llm.Message{
				Role: llm.ToolRole, Content: text, ToolCallID: f.ID, ToolError: failed, Attachments: geminiAttachments(f.Parts),
			})
		}
	}
	if results == nil || n.Content != "" {
		to = append(to, n)
	} else if n.Attachments != nil { // they belong to the results
		last := &results[len(results)-1]
		last.Attachments = append(last.Attachments, n.Attachments...)
	}
	return append(to, results...)
}

// text returns the result of a function: the text of the only field, which by convention is
// "output" or "error", or else the object. It has failed if that field is "error".
func (f *geminiResponse) text() (text string, failed bool) {
	var members map[string]jsontext.Value
	if jsonv2.Unmarshal(f.Response, &members) == nil && len(members) == 1 {
		for name, v := range members {
			failed = name == "error"
			if v.Kind() == '"' {
				return unquoted(v), failed
			}
		}
	}
	return string(f.Response), failed
}

func geminiAttachments(parts []geminiPart) []llm.Attachment {
	var all []llm.Attachment
	for i := range parts {
		switch p := &parts[i]; {
		case p.InlineData != nil:
			d := p.InlineData
			all = append(all, d.Data.attachment(attachmentKind(d.MIMEType), d.MIMEType, d.DisplayName))
		case p.FileData != nil:
			d := p.FileData
			content := payload{given: true, source: shortSource(d.FileURI)}
			all = append(all, content.attachment(attachmentKind(d.MIMEType), d.MIMEType, d.DisplayName))
		}
	}
	return all
}

// attachmentKind returns the kind of an attachment with a media type.
func attachmentKind(mediaType string) string {
	switch kind, _, _ := strings.Cut(mediaType, "/"); kind {
	case "image", "audio":
		return kind
	}
	return "file"
}

// pair gives each function call and each response an id, and requires that the content after a
// content with calls has one response for each of them. Ids are optional; without them the
// responses have the order of the calls of the same function.
func (r *geminiRequest) pair() *APIError {
	var open []*geminiCall
	for i := range r.Contents {
		var calls []*geminiCall
		var responses []*geminiResponse
		for j := range r.Contents[i].Parts {
			p := &r.Contents[i].Parts[j]
			if c := p.FunctionCall; c != nil {
				if c.ID == "" {
					c.ID = fmt.Sprintf("call_%d_%d", i, j)
				}
				calls = append(calls, c)
			}
			if p.FunctionResponse != nil {
				responses = append(responses, p.FunctionResponse)
			}
		}
		switch {
		case len(responses) > 0 && len(open) == 0:
			return google("", "Please ensure that function response turn comes immediately after a function call turn.")
		case len(responses) != len(open):
			return unequalResponses()
		case len(calls) > 0 && (i == 0 || r.Contents[i-1].Role == geminiModelRole):
			return google("", "Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		}
		for _, response := range responses {
			if open = response.answer(open); open == nil {
				return unequalResponses()
			}
		}
		open = calls
	}
	if len(open) > 0 {
		return unequalResponses()
	}
	return nil
}

func unequalResponses() *APIError {
	return google("", "Please ensure that the number of function response parts is equal to the number of function call parts "+
		"of the function call turn.")
}

// answer removes the call that a response answers; nil if there is none.
func (f *geminiResponse) answer(open []*geminiCall) []*geminiCall {
	for i, call := range open {
		if f.ID == call.ID || f.ID == "" && f.Name == call.Name {
			f.ID = call.ID
			left := make([]*geminiCall, 0, len(open))
			return append(append(left, open[:i]...), open[i+1:]...)
		}
	}
	return nil
}
