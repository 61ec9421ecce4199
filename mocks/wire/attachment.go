package wire

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/url"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// maxSource limits the address or name of an attachment, in bytes.
const maxSource = 500

// payload is the content of an attachment in a request: base64, a data URL or an address. It has
// only the size and the digest of the content, which may be megabytes long.
type payload struct {
	given     bool // present and not null
	inline    bool // the content is in the request
	valid     bool // the inline content is base64
	mediaType string
	source    string // the address of content that is not inline
	size      int
	digest    string
}

// base64Text is a payload in a string of base64, or in a data URL.
type base64Text struct{ payload }

// addressText is a payload in a URL, which may be a data URL. In chat completions the URL is in
// an object.
type addressText struct{ payload }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (b *base64Text) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, given, err := stringMember(d)
	if err != nil || !given {
		return err
	}
	if b.payload = readDataURL(text); !b.inline {
		b.readBase64(text)
	}
	return nil
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (a *addressText) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '{' {
		var object struct {
			URL *addressString `json:"url"`
		}
		err := jsonv2.UnmarshalDecode(d, &object)
		if object.URL != nil {
			a.payload = object.URL.payload
		}
		return err
	}
	var s addressString
	err := s.UnmarshalJSONFrom(d)
	a.payload = s.payload
	return err
}

// addressString is a payload in a URL that is a string.
type addressString struct{ payload }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (a *addressString) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, given, err := stringMember(d)
	if err != nil || !given {
		return err
	}
	if a.payload = readDataURL(text); !a.inline {
		a.payload = payload{given: text != "", source: shortSource(text)}
	}
	return nil
}

// stringMember reads a string or null.
func stringMember(d *jsontext.Decoder) (text string, given bool, err error) {
	var member *string
	if err := jsonv2.UnmarshalDecode(d, &member); err != nil || member == nil {
		return "", false, err
	}
	return *member, true, nil
}

// readDataURL reads a data URL (RFC 2397). The payload is inline only if text is a data URL.
func readDataURL(text string) payload {
	rest, ok := strings.CutPrefix(text, "data:")
	head, data, comma := strings.Cut(rest, ",")
	switch {
	case !ok:
		return payload{}
	case !comma:
		return payload{given: true, inline: true}
	}
	kind, encoded := strings.CutSuffix(head, ";base64")
	mediaType, _, _ := strings.Cut(kind, ";")
	p := payload{mediaType: shortSource(mediaType)}
	if encoded {
		p.readBase64(data)
		return p
	}
	plain, err := url.PathUnescape(data)
	p.digestOf(strings.NewReader(plain))
	p.valid = err == nil
	return p
}

// readBase64 sets the size and the digest of base64, with or without padding.
func (p *payload) readBase64(text string) {
	text = strings.TrimRight(text, "=")
	p.digestOf(base64.NewDecoder(base64.RawStdEncoding, strings.NewReader(text)))
}

func (p *payload) digestOf(content io.Reader) {
	h := sha256.New()
	n, err := io.Copy(h, content)
	p.given, p.inline, p.valid = true, true, err == nil && n > 0
	if p.valid {
		p.size, p.digest = int(n), hex.EncodeToString(h.Sum(nil))
	}
}

func (p *payload) attachment(kind, mediaType, name string) llm.Attachment {
	if p.mediaType != "" {
		mediaType = p.mediaType
	}
	return llm.Attachment{
		Kind: kind, MediaType: shortSource(mediaType), Name: shortSource(name),
		Bytes: p.size, SHA256: p.digest, Source: p.source,
	}
}

// shortSource truncates a client's text to maxSource bytes.
func shortSource(text string) string {
	if len(text) <= maxSource {
		return text
	}
	return strings.ToValidUTF8(text[:maxSource], "") + "…"
}

// attached has the fields of attachments in both of OpenAI's protocols. Chat completions put
// the fields of a file into an object.
type attached struct {
	ImageURL   addressText `json:"image_url"`
	InputAudio *struct {
		Data   base64Text `json:"data"`
		Format string     `json:"format"`
	} `json:"input_audio"`
	File *fileMembers `json:"file"`
	fileMembers
}

type fileMembers struct {
	FileID   string        `json:"file_id"`
	FileData base64Text    `json:"file_data"`
	FileURL  addressString `json:"file_url"`
	Filename string        `json:"filename"`
}

// payload returns the content of a file: data, an address or an upload's id.
func (f *fileMembers) payload() payload {
	switch {
	case f.FileData.given:
		return f.FileData.payload
	case f.FileURL.given:
		return f.FileURL.payload
	}
	return payload{given: f.FileID != "", source: shortSource(f.FileID)}
}

// attachment returns the attachment of a part; ok is false if it has none.
func (p *contentPart) attachment() (a llm.Attachment, ok bool) {
	switch p.Type {
	case "image_url", "input_image":
		content := p.imagePayload()
		return content.attachment("image", "", ""), true
	case "input_audio":
		if p.InputAudio == nil {
			return a, false
		}
		mediaType := ""
		if p.InputAudio.Format != "" {
			mediaType = "audio/" + p.InputAudio.Format
		}
		return p.InputAudio.Data.attachment("audio", mediaType, ""), true
	case "file", "input_file":
		file := p.file()
		content := file.payload()
		return content.attachment("file", "", file.Filename), true
	}
	return a, false
}

// imagePayload returns the content of an image. Responses also accept an upload's id.
func (p *contentPart) imagePayload() payload {
	if p.ImageURL.given {
		return p.ImageURL.payload
	}
	return payload{given: p.FileID != "", source: shortSource(p.FileID)}
}

func (p *contentPart) file() *fileMembers {
	if p.Type == "file" {
		if p.File == nil {
			return &fileMembers{}
		}
		return p.File
	}
	return &p.fileMembers
}

// checkAttachment validates the content of the part at the given path.
func (p *contentPart) checkAttachment(at string) *APIError {
	var content payload
	var field string
	switch p.Type {
	case "image_url":
		content, field = p.ImageURL.payload, "image_url.url"
	case "input_image":
		content, field = p.imagePayload(), "image_url"
	case "input_audio":
		if p.InputAudio == nil {
			return missing(at + ".input_audio")
		}
		content, field = p.InputAudio.Data.payload, "input_audio.data"
	case "file", "input_file":
		content, field = p.file().payload(), "file"
	default:
		return nil
	}
	switch {
	case !content.given:
		return missing(at + "." + field)
	case content.inline && !content.valid:
		return bad(at+"."+field, "invalid_value", "Invalid '%s': the content is not valid base64 data.", at+"."+field)
	case p.Type == "input_audio" && p.InputAudio.Format != "wav" && p.InputAudio.Format != "mp3":
		return unsupported(at+".input_audio.format", p.InputAudio.Format, "wav", "mp3")
	}
	return nil
}

func attachments(parts []contentPart) []llm.Attachment {
	var all []llm.Attachment
	for i := range parts {
		if a, ok := parts[i].attachment(); ok {
			all = append(all, a)
		}
	}
	return all
}
