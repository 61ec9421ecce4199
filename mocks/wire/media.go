package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"strings"
)

// Output is the kind of content that a call asks for.
type Output string

// The kinds of content.
const (
	TextOutput  Output = ""
	ImageOutput Output = "image"
	AudioOutput Output = "audio"
)

// String returns the name of the kind.
func (o Output) String() string {
	if o == TextOutput {
		return "text"
	}
	return string(o)
}

// Media is an image or speech in an answer.
type Media struct {
	Kind Output
	// Type is the media type, such as "image/png"; empty if the bytes do not show it.
	Type string
	Data []byte
}

// NewMedia returns bytes as media. It recognises the kind by the bytes; TextOutput means that they are
// neither a known form of image nor of audio, such as PCM.
func NewMedia(data []byte) *Media {
	m := &Media{Data: data, Type: http.DetectContentType(data)}
	switch {
	case strings.HasPrefix(m.Type, "image/"):
		m.Kind = ImageOutput
	case strings.HasPrefix(m.Type, "audio/"), m.Type == "application/ogg":
		m.Kind = AudioOutput
	case isMPEGAudio(data): // MP3 without a tag, or AAC
		m.Kind, m.Type = AudioOutput, "audio/mpeg"
	case bytes.HasPrefix(data, []byte("fLaC")):
		m.Kind, m.Type = AudioOutput, "audio/flac"
	default:
		m.Type = ""
	}
	return m
}

// isMPEGAudio reports whether data begins with the 12 set bits of a frame of MP3 or AAC.
func isMPEGAudio(data []byte) bool { return len(data) > 1 && data[0] == 0xFF && data[1]&0xF0 == 0xF0 }

// String describes the media as in a request: "image image/png 68 bytes sha256:9f86d0…".
func (m *Media) String() string {
	var p payload
	p.digestOf(bytes.NewReader(m.Data))
	a := p.attachment(m.Kind.String(), m.Type, "")
	return a.String()
}

// base64 returns the data in base64; "" for nil.
func (m *Media) base64() string {
	if m == nil {
		return ""
	}
	return base64.StdEncoding.EncodeToString(m.Data)
}

// Recorded returns the text of the answer as a recording has it: that of a media is its description.
func (c *Completion) Recorded() string {
	if c.Media == nil {
		return c.Text
	}
	var all []string
	for _, choice := range c.choices() {
		if choice.Media != nil {
			all = append(all, choice.Media.String())
		}
	}
	return strings.Join(all, "\n")
}

// openAIMedia is the part that all codecs of OpenAI's media share.
type openAIMedia struct {
	// Root of the path; Azure's deployment replaces the model of a request.
	Root Root
}

// EncodeError implements Codec.
func (openAIMedia) EncodeError(e *APIError) []Frame { return OpenAIChat{}.EncodeError(e) }

// mediaOptions are the options of a call that concern the form of its answer.
type mediaOptions struct {
	// format is the requested form: "png", "mp3", "verbose_json".
	format string
	// url is true for images as URLs instead of base64.
	url bool
	// events is true for a stream of events, and not of bytes.
	events bool
	// partial is the number of unfinished images in a stream.
	partial                   int
	size, quality, background string
	language                  string
	words                     bool // with a time for each word
}

// IsMedia reports whether the call asks for an image, for speech or for a transcription.
func (c *Call) IsMedia() bool { return c.media.format != "" }

// GenerateMedia returns a small valid image, or silence, in the form that the call asks for. It depends only on the
// prompt and the name of the choice. Forms that it cannot generate are an error: WebP, JPEG, Opus, AAC and FLAC.
func GenerateMedia(call *Call, choice string) (*Media, error) {
	var prompt strings.Builder
	for _, m := range call.Messages {
		prompt.WriteString(m.Content)
	}
	format := call.media.format
	switch {
	case call.Output == ImageOutput && format == "png":
		return NewMedia(generatePNG(sha256.Sum256([]byte(prompt.String() + choice)))), nil
	case call.Output == AudioOutput && format == "wav":
		return NewMedia(wav(silence)), nil
	case call.Output == AudioOutput && format == "pcm":
		return &Media{Kind: AudioOutput, Type: "audio/pcm", Data: silence}, nil
	case call.Output == AudioOutput && format == "mp3":
		return NewMedia(bytes.Repeat(silentMP3, silentFrames)), nil
	}
	return nil, fmt.Errorf("the request asks for %s, which cannot be generated (png, wav, pcm and mp3 can); give a file", format)
}

// generatePNG returns an image of 16 by 16 pixels of one colour. It is not compressed, so that it does not
// depend on the version of Go.
func generatePNG(digest [sha256.Size]byte) []byte {
	const side = 16
	pixels := image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{color.RGBA{digest[0], digest[1], digest[2], 0xFF}})
	var b bytes.Buffer
	_ = (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, pixels) // a buffer accepts all data
	return b.Bytes()
}

// silence is 0.1 s of OpenAI's PCM: 24 kHz, 16 bits, mono.
var silence = make([]byte, sampleRate/10*2)

const sampleRate = 24_000

// wav returns PCM with the header of a WAV file.
func wav(pcm []byte) []byte {
	b := append(make([]byte, 0, 44+len(pcm)), "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(36+len(pcm)))
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16) // bytes of the format
	b = binary.LittleEndian.AppendUint16(b, 1)  // PCM
	b = binary.LittleEndian.AppendUint16(b, 1)  // channels
	b = binary.LittleEndian.AppendUint32(b, sampleRate)
	b = binary.LittleEndian.AppendUint32(b, sampleRate*2)
	b = binary.LittleEndian.AppendUint16(b, 2)  // bytes of a sample
	b = binary.LittleEndian.AppendUint16(b, 16) // bits of a sample
	b = append(b, "data"...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(pcm))), pcm...)
}

// silentMP3 is a frame of 24 ms of silence: MPEG-2 layer III, 64 kbit/s, 24 kHz, mono.
var silentMP3 = append([]byte{0xFF, 0xF3, 0x84, 0xC4}, make([]byte, 192-4)...)

const silentFrames = 5
