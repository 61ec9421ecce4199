package wire

import (
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// The types of blocks with an attachment.
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
	// Content has the blocks of a document that consists of blocks.
	Content textOrList[block] `json:"content"`
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom. It skips the source of a search result,
// which is a string.
func (s *blockSource) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		return d.SkipValue()
	}
	s.given = true
	type members blockSource
	return jsonv2.UnmarshalDecode(d, (*members)(s))
}

// payload returns the content, from the member that the type of the source determines.
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

// attachment returns the attachment of an image or a document; ok is false for other blocks.
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

func blockAttachments(blocks []block) []llm.Attachment {
	var all []llm.Attachment
	for i := range blocks {
		if a, ok := blocks[i].attachment(); ok {
			all = append(all, a)
		}
	}
	return all
}

// checkSource validates the source of an image or a document.
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
	case s.Type == "base64" && !s.payload().valid:
		return refused(at+".base64", "invalid base64 data")
	}
	return nil
}
