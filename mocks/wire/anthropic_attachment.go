package wire

import (
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// The blocks that carry something beside text.
const (
	blockImage    = "image"
	blockDocument = "document"
)

// blockSource is the source of an image or a document.
type blockSource struct {
	given     bool
	Type      string  `json:"type"`
	MediaType string  `json:"media_type"`
	Data      *string `json:"data"`
	URL       string  `json:"url"`
	FileID    string  `json:"file_id"`
	// Content is of a document that is made of blocks.
	Content textOrList[block] `json:"content"`
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom. Search results have a text of that
// name, which is skipped.
func (s *blockSource) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		return d.SkipValue()
	}
	s.given = true
	type members blockSource
	return jsonv2.UnmarshalDecode(d, (*members)(s))
}

// payload returns the content; the member that has it depends on the source's type.
func (s *blockSource) payload() payload {
	var p payload
	switch {
	case s.Data != nil && s.Type == "text":
		p.digestOf(strings.NewReader(*s.Data))
	case s.Data != nil:
		p.readBase64(*s.Data)
	case s.Content.kind != 0:
		p.digestOf(strings.NewReader(plain(&s.Content)))
	default:
		p.source = shortSource(s.URL + s.FileID)
		p.given = p.source != ""
	}
	return p
}

// attachment returns what a block carries beside text, and false if it carries nothing.
func (b *block) attachment() (a llm.Attachment, ok bool) {
	content := b.Source.payload()
	switch b.Type {
	case blockImage:
		return content.attachment("image", b.Source.MediaType, ""), true
	case blockDocument:
		return content.attachment("file", b.Source.MediaType, b.Title), true
	}
	return a, false
}

// blockAttachments returns what the blocks of a content carry beside text.
func blockAttachments(blocks []block) []llm.Attachment {
	var all []llm.Attachment
	for i := range blocks {
		if a, ok := blocks[i].attachment(); ok {
			all = append(all, a)
		}
	}
	return all
}

// checkSource validates the content of an image or a document.
func (b *block) checkSource(param string) *APIError {
	at := param + "." + b.Type + ".source"
	switch s := &b.Source; {
	case !s.given:
		return refused(at, "Field required")
	case s.Type == "":
		return refused(at+".type", "Field required")
	case s.Type == "base64" && s.Data == nil:
		return refused(at+".base64.data", "Field required")
	case s.Type == "base64" && s.MediaType == "":
		return refused(at+".base64.media_type", "Field required")
	case s.Type == "base64" && !isBase64(*s.Data):
		return refused(at+".base64", "invalid base64 data")
	}
	return nil
}

// isBase64 reports whether a text is base64 of at least one byte.
func isBase64(text string) bool {
	var p payload
	p.readBase64(text)
	return p.valid
}
