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

// families maps prefixes of model names to encodings, as tiktoken/model.py does. The first
// match wins, so longer prefixes come first.
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

// encodingOf returns the encoding for a model; o200k for a model that is not known.
func encodingOf(model string) encoding {
	model = strings.TrimPrefix(model, "openai/")
	switch model {
	case "gpt-5":
		return o200k
	case "gpt-4":
		return cl100k
	}
	for _, f := range families {
		if strings.HasPrefix(model, f.prefix) {
			return f.encoding
		}
	}
	return o200k
}

// counters load the two vocabularies, each once and when it is first needed, because loading
// takes about 10 ms and 20 MB. They name the codecs instead of using the library's look-up
// table, which would link the vocabularies of old models.
var counters = [...]func() func(string) int{
	o200k:  sync.OnceValue(func() func(string) int { return countWith(codec.NewO200kBase()) }),
	cl100k: sync.OnceValue(func() func(string) int { return countWith(codec.NewCl100kBase()) }),
}

// countWith returns a function that counts tokens with a codec.
func countWith(c *codec.Codec) func(string) int {
	c.SetErrorMode(codec.ErrorModeReplace)
	return func(text string) int {
		n, err := c.Count(text)
		if err != nil {
			panic(err) // only for invalid UTF-8 in strict mode, or a timeout, which is not set
		}
		return n
	}
}
