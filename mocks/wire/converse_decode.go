package wire

import (
	"encoding/json"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// converseRequest has the supported fields of a request. An optional field is a pointer only if its
// zero value has another meaning.
type converseRequest struct {
	Messages  []converseMessage `json:"messages"`
	System    []converseBlock   `json:"system"`
	Inference struct {
		MaxTokens     *int     `json:"maxTokens"`
		Temperature   *float64 `json:"temperature"`
		TopP          *float64 `json:"topP"`
		StopSequences []string `json:"stopSequences"`
	} `json:"inferenceConfig"`
	ToolConfig *struct {
		Tools []struct {
			Spec   *converseTool `json:"toolSpec"` // nil for a cache point or a tool of the provider
			System *struct{}     `json:"systemTool"`
		} `json:"tools"`
		Choice struct {
			Tool *struct {
				Name string `json:"name"`
			} `json:"tool"`
		} `json:"toolChoice"`
	} `json:"toolConfig"`
	OutputConfig struct {
		TextFormat *struct{} `json:"textFormat"`
	} `json:"outputConfig"`
	Metadata map[string]string `json:"requestMetadata"`
}

type converseTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	InputSchema struct {
		JSON jsontext.Value `json:"json"`
	} `json:"inputSchema"`
}

type converseMessage struct {
	Role    string          `json:"role"`
	Content []converseBlock `json:"content"`
}

// converseBlock is a block of a content. One member is set, which is the type of the block.
type converseBlock struct {
	Text       *string          `json:"text"`
	JSON       jsontext.Value   `json:"json"` // in results of tools
	Image      *converseMedia   `json:"image"`
	Document   *converseMedia   `json:"document"`
	Audio      *converseMedia   `json:"audio"`
	Video      *converseMedia   `json:"video"`
	ToolUse    *converseToolUse `json:"toolUse"`
	ToolResult *struct {
		ID      string          `json:"toolUseId"`
		Content []converseBlock `json:"content"`
		Status  string          `json:"status"`
	} `json:"toolResult"`
	Reasoning *struct {
		Text struct {
			Text      string `json:"text"`
			Signature string `json:"signature"`
		} `json:"reasoningText"`
	} `json:"reasoningContent"`
	Guard *struct {
		Text struct {
			Text string `json:"text"`
		} `json:"text"`
	} `json:"guardContent"`
}

type converseToolUse struct {
	ID    string         `json:"toolUseId"`
	Name  string         `json:"name"`
	Input jsontext.Value `json:"input"`
}

// converseMedia is an image, document, audio or video.
type converseMedia struct {
	Format string `json:"format"`
	Name   string `json:"name"`
	Source struct {
		Bytes *string         `json:"bytes"`
		Text  *string         `json:"text"`
		S3    *s3Location     `json:"s3Location"`
		Blobs []converseBlock `json:"content"`
	} `json:"source"`
}

type s3Location struct {
	URI string `json:"uri"`
}

func (m *converseMedia) payload() payload {
	var p payload
	switch s := &m.Source; {
	case s.Bytes != nil:
		p.readBase64(*s.Bytes)
	case s.Text != nil:
		p.digestOf(strings.NewReader(*s.Text))
	case s.Blobs != nil:
		p.digestOf(strings.NewReader(converseText(s.Blobs)))
	case s.S3 != nil:
		p.source = shortSource(s.S3.URI)
		p.given = p.source != ""
	}
	return p
}

// media returns the attachment of a block and its kind; nil if it has none.
func (b *converseBlock) media() (m *converseMedia, kind string) {
	switch {
	case b.Image != nil:
		return b.Image, "image"
	case b.Document != nil:
		return b.Document, "file"
	case b.Audio != nil:
		return b.Audio, "audio"
	case b.Video != nil:
		return b.Video, "video"
	}
	return nil, ""
}

// mediaType returns the media type of a format, such as image/png.
func mediaType(kind, format string) string {
	if format == "" {
		return ""
	}
	if kind != "file" {
		return kind + "/" + format
	}
	switch format {
	case "pdf":
		return "application/pdf"
	case "txt":
		return "text/plain"
	case "md":
		return "text/markdown"
	case "csv", "html":
		return "text/" + format
	}
	return "application/" + format
}

func converseAttachments(blocks []converseBlock) []llm.Attachment {
	var all []llm.Attachment
	for i := range blocks {
		if m, kind := blocks[i].media(); m != nil {
			p := m.payload()
			all = append(all, p.attachment(kind, mediaType(kind, m.Format), m.Name))
		}
	}
	return all
}

// converseText returns the text of a content, with a line break between the texts of its blocks.
func converseText(blocks []converseBlock) string {
	texts := make([]string, 0, len(blocks))
	for i := range blocks {
		switch b := &blocks[i]; {
		case b.Text != nil:
			texts = append(texts, *b.Text)
		case b.JSON != nil:
			texts = append(texts, string(b.JSON))
		case b.Guard != nil:
			texts = append(texts, b.Guard.Text.Text)
		}
	}
	return joinTexts(texts, "\n")
}

// Decode implements Codec. Errors have the provider's status and type, and similar messages.
func (c Converse) Decode(body []byte) (Call, *APIError) {
	var r converseRequest
	if err := jsonv2.Unmarshal(body, &r); err != nil {
		return Call{}, converseDecodeError(err)
	}
	if err := r.check(); err != nil {
		return Call{}, err
	}
	call := r.call()
	call.Model, call.Stream = c.Model, c.Stream
	return call, nil
}

// call returns the neutral form of a valid request.
func (r *converseRequest) call() Call {
	c := Call{IncludeUsage: true, Request: llm.Request{
		Purpose:     r.Metadata["purpose"],
		JSONMode:    r.OutputConfig.TextFormat != nil,
		Temperature: r.Inference.Temperature,
	}}
	if r.Inference.MaxTokens != nil {
		c.MaxTokens = *r.Inference.MaxTokens
	}
	delete(r.Metadata, "purpose")
	if len(r.Metadata) > 0 {
		c.Tags = r.Metadata
	}
	if text := converseText(r.System); text != "" {
		c.Messages = append(c.Messages, llm.Message{Role: llm.System, Content: text})
	}
	for i := range r.Messages {
		c.Messages = r.Messages[i].neutral(c.Messages)
	}
	if r.ToolConfig == nil {
		return c
	}
	for _, t := range r.ToolConfig.Tools {
		c.AnyTool = c.AnyTool || t.System != nil
		if s := t.Spec; s != nil {
			c.Tools = append(c.Tools, llm.Tool{Name: s.Name, Description: s.Description, Parameters: json.RawMessage(s.InputSchema.JSON)})
		}
	}
	return c
}

// neutral appends a message in neutral form, as anthropicMessage.neutral does.
func (m *converseMessage) neutral(to []llm.Message) []llm.Message {
	n := llm.Message{Role: llm.Role(m.Role), Content: converseText(m.Content), Attachments: converseAttachments(m.Content)}
	var results []llm.Message
	for i := range m.Content {
		if t := m.Content[i].ToolUse; t != nil {
			n.ToolCalls = append(n.ToolCalls, llm.ToolCall{ID: t.ID, Name: t.Name, Arguments: string(t.Input)})
		}
		if t := m.Content[i].ToolResult; t != nil {
			results = append(results, llm.Message{
				Role: llm.ToolRole, Content: converseText(t.Content), ToolCallID: t.ID, ToolError: t.Status == "error",
				Attachments: converseAttachments(t.Content),
			})
		}
	}
	return withResults(to, n, results)
}
