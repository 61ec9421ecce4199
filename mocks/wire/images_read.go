package wire

import (
	"encoding/base64"
	"errors"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rehearse-dev/rehearse/llm"
)

// imageAnswer is an answer, or an event of a stream.
type imageAnswer struct {
	Type    string     `json:"type"`
	B64JSON string     `json:"b64_json"`
	Error   *errorBody `json:"error"`
	Data    []struct {
		B64JSON       string `json:"b64_json"`
		URL           string `json:"url"`
		RevisedPrompt string `json:"revised_prompt"`
	} `json:"data"`
	Usage *mediaUsage `json:"usage"`
}

// mediaUsage has the counts of all answers with media.
type mediaUsage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
}

func (u *mediaUsage) neutral() llm.Usage {
	if u == nil {
		return llm.Usage{}
	}
	return llm.Usage{Input: u.Input, Output: u.Output, Source: llm.UsageReported}
}

// errNoBytes is the error for an image that is only an address.
var errNoBytes = errors.New("the answer has the address of an image, which expires; ask for response_format b64_json")

// ReadAnswer implements Reader.
func (i Images) ReadAnswer(streamed bool, body []byte) (Completion, error) {
	var all []Completion
	var usage llm.Usage
	add := func(b64, url, revised string) error {
		m, err := readImage(b64, url)
		if err == nil {
			all = append(all, Completion{Media: m, Text: revised})
		}
		return err
	}
	err := readAnswer(streamed, body, func(data []byte) (bool, error) {
		var e imageAnswer
		if err := jsonv2.Unmarshal(data, &e, lenient); err != nil {
			return false, err
		}
		if e.Error != nil {
			return false, e.Error.apiError()
		}
		if !strings.HasSuffix(e.Type, ".completed") {
			return false, nil
		}
		usage = e.Usage.neutral()
		return true, add(e.B64JSON, "", "")
	}, func(a *imageAnswer) error {
		usage = a.Usage.neutral()
		for _, d := range a.Data {
			if err := add(d.B64JSON, d.URL, d.RevisedPrompt); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && len(all) == 0 {
		err = ErrEmptyAnswer
	}
	if len(all) == 0 {
		return Completion{}, err
	}
	c := all[0]
	c.More, c.Usage = all[1:], usage
	return c, err
}

// readImage reads an image in base64 or in a data URL.
func readImage(b64, url string) (*Media, error) {
	if b64 == "" {
		_, data, ok := strings.Cut(url, ";base64,")
		if !ok || !strings.HasPrefix(url, "data:") {
			return nil, errNoBytes
		}
		b64 = data
	}
	data, err := base64.StdEncoding.DecodeString(b64)
	if err != nil {
		return nil, err
	}
	m := NewMedia(data)
	m.Kind = ImageOutput
	return m, nil
}
