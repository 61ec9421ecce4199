package token

import (
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// encoding names one of tiktoken's vocabularies.
type encoding int

const (
	o200k encoding = iota
	cl100k
)

// families maps the beginnings of model names to the encodings of tiktoken's own
// table (tiktoken/model.py). The first that fits wins, so longer ones come first.
var families = []struct {
	prefix   string
	encoding encoding
}{
	{"gpt-4o", o200k},
	{"gpt-4.1", o200k},
	{"gpt-4.5", o200k},
	{"chatgpt-4o", o200k},
	{"gpt-5-", o200k},
	{"o1", o200k},
	{"o3", o200k},
	{"o4-mini", o200k},
	{"gpt-4-", cl100k},
	{"gpt-3.5", cl100k},
	{"text-embedding-", cl100k},
}

// encodingOf returns the encoding for a model, and whether it is the model's own.
func encodingOf(model string) (e encoding, exact bool) {
	model = strings.TrimPrefix(model, "openai/")
	switch model {
	case "gpt-5":
		return o200k, true
	case "gpt-4":
		return cl100k, true
	}
	for _, f := range families {
		if strings.HasPrefix(model, f.prefix) {
			return f.encoding, true
		}
	}
	return o200k, false
}

// counters load the two vocabularies, each when it is first needed and once for
// the whole process: loading takes about 10 ms and 20 MB. The codecs are named
// here, and not looked up by the library, because its look-up table would link
// the vocabularies of models that are no longer offered.
var counters = [...]func() func(string) int{
	o200k:  sync.OnceValue(func() func(string) int { return counting(codec.NewO200kBase()) }),
	cl100k: sync.OnceValue(func() func(string) int { return counting(codec.NewCl100kBase()) }),
}

func load(e encoding) func(string) int { return counters[e]() }

// counting returns the function that counts tokens with a codec.
func counting(c *codec.Codec) func(string) int {
	c.SetErrorMode(codec.ErrorModeReplace)
	return func(text string) int {
		n, err := c.Count(text)
		if err != nil {
			// The library reports only invalid UTF-8 in strict mode and a time-out
			// of its regular expression, which has none set.
			panic(err)
		}
		return n
	}
}
