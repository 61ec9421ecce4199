package capture

import (
	"encoding/base64"
	"fmt"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/tape"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// maxInline limits an image or speech within a script, in bytes.
const maxInline = 16 << 10

// media returns an answer with an image or speech: in base64 if it is short and the only one, else the exchange on the tape.
func (m *maker) media(c *wire.Completion, x *tape.Exchange) (mocks.Answer, error) {
	a := mocks.Answer{Text: mocks.Text(c.Text), Usage: usage(&c.Usage)}
	switch {
	case len(c.More) == 0 && len(c.Media.Data) <= maxInline:
		a.Media = &mocks.Media{Base64: base64.StdEncoding.EncodeToString(c.Media.Data)}
	case m.opts.Media == "":
		return a, fmt.Errorf("%d images, of which the first has %d bytes, do not fit into a script", 1+len(c.More), len(c.Media.Data))
	default:
		a = mocks.Answer{Frames: &mocks.Frames{File: m.opts.Media, Exchange: x.N}}
	}
	return a, nil
}

// matchKind returns a condition on the kind of the last attachment, such as the sound to transcribe; nil without attachments. Its
// name and bytes may differ from run to run.
func matchKind(messages []llm.Message) *mocks.Match {
	for _, message := range messages {
		if n := len(message.Attachments); n > 0 {
			return &mocks.Match{Matches: "^" + message.Attachments[n-1].Kind + " "}
		}
	}
	return nil
}
