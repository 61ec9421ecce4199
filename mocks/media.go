package mocks

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// Media is the content of a scripted image, or of scripted speech. It has exactly one of the three keys.
type Media struct {
	// File with the bytes. The path is relative to the script's folder and cannot leave it.
	File string `yaml:"file,omitempty" json:"file,omitempty"`
	// Base64 has the bytes in base64.
	Base64 string `yaml:"base64,omitempty" json:"base64,omitempty"`
	// Generated is true for a small valid image that depends only on the prompt, or for silence, in the
	// form that the request asks for: PNG, WAV, PCM or MP3.
	Generated bool `yaml:"generated,omitempty" json:"generated,omitempty"`

	loaded []byte // of File
}

// Load reads File; see Script.Load. It does nothing for nil and without a file.
func (m *Media) Load(fsys fs.FS) error {
	if m == nil || m.File == "" || m.loaded != nil {
		return nil
	}
	data, err := readFile(fsys, m.File)
	if err == nil && len(data) == 0 {
		err = fmt.Errorf("%q is empty", m.File)
	}
	m.loaded = data
	return err
}

// Content returns the bytes of File; nil before Load.
func (m *Media) Content() []byte { return m.loaded }

// compile returns the scripted bytes; nil if they are generated.
func (m *Media) compile() (*wire.Media, error) {
	switch {
	case m == nil || m.Generated:
		return nil, nil
	case m.File != "" && m.loaded == nil:
		return nil, fmt.Errorf("the file %q is not loaded; call Script.Load first", m.File)
	case m.File != "":
		return wire.NewMedia(m.loaded), nil
	}
	data, err := decodeBase64(m.Base64)
	if err != nil {
		return nil, fmt.Errorf("media.base64: %w", err)
	}
	return wire.NewMedia(data), nil
}

// decodeBase64 reads base64, which a file may divide into lines.
func decodeBase64(text string) ([]byte, error) {
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err == nil && len(data) == 0 {
		err = errors.New("it is empty")
	}
	return data, err
}

// fillMedia sets the media of an answer, or of its nth choice. A line that is only a fault has whatever can be generated.
func (r *reply) fillMedia(c *wire.Completion, v *view, nth string) error {
	if c.Media = r.media; c.Media != nil {
		return nil
	}
	var err error
	if c.Media, err = wire.GenerateMedia(v.call, nth); err != nil && r.Media != nil {
		return fmt.Errorf("media: %w", err)
	}
	return nil
}

// outputConditions returns the condition that a call asks for the kind of content that the line has. A line
// that is only a fault has none.
func (l *line) outputConditions() []condition {
	want := ""
	for _, r := range l.replies() {
		if !r.onlyFault {
			want = r.output()
			break
		}
	}
	if want == "" {
		return nil
	}
	accepts := func(got string) bool {
		return got == want || want == anyMedia && got != wire.TextOutput.String()
	}
	asked := one(func(v *view) string { return v.call.Output.String() })
	return []condition{{field: "media", want: want, look: asked, accepts: accepts, folded: accepts}}
}

// anyMedia is the kind of content that is generated, or whose bytes do not show what it is.
const anyMedia = "image or audio"

// replies returns all answers of the line.
func (l *line) replies() []*reply {
	all := []*reply{&l.own}
	for i := range l.choices {
		if i == 0 {
			all = nil
		}
		all = append(all, &l.choices[i].reply)
	}
	return all
}

// output returns the kind of content of the answer.
func (r *reply) output() string {
	m := r.media
	if r.captured != nil {
		m = r.captured.answer.Media
	}
	switch {
	case m != nil && m.Kind != wire.TextOutput:
		return string(m.Kind)
	case m != nil || r.Media != nil:
		return anyMedia
	}
	return wire.TextOutput.String()
}

// media checks the media of an answer.
func (v *validator) media(path string, a *Answer) {
	m := a.Media
	if m == nil {
		return
	}
	path += ".media"
	keys := given([]answerPart{{"file", m.File != ""}, {"base64", m.Base64 != ""}, {"generated", m.Generated}})
	if len(keys) != 1 {
		v.add(path, "give exactly one of file, base64 and generated: true, not %d", len(keys))
	}
	if _, err := localPath(m.File); m.File != "" && err != nil {
		v.add(path+".file", "%q %v", m.File, err)
	}
	if m.Base64 != "" {
		if _, err := decodeBase64(m.Base64); err != nil {
			v.add(path+".base64", "must be base64: %v", err)
		}
	}
	for _, key := range given([]answerPart{
		{"tool_calls", len(a.ToolCalls) > 0}, {"thinking", a.Thinking != ""}, {"refusal", a.Refusal != ""}, {"finish", a.Finish != ""},
	}) {
		v.add(path, "an image or speech cannot have %s; remove one of the two", key)
	}
}

// mediaChoices checks that the choices of a line answer the same kind of call.
func (v *validator) mediaChoices(path string, l *Line) {
	media, texts := 0, 0
	for i := range l.OneOf {
		switch c := &l.OneOf[i]; {
		case c.Media != nil:
			media++
		case c.answers() && c.Frames == nil:
			texts++
		}
	}
	if media > 0 && texts > 0 {
		v.add(path+".one_of", "%d choices have media and %d have not; a line answers one kind of call", media, texts)
	}
}
