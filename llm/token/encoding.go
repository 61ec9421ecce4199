package token

import (
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// families maps the beginnings of model names to the encodings of tiktoken's own
// table (tiktoken/model.py). The first that fits wins, so longer ones come first.
var families = []struct {
	prefix   string
	encoding tokenizer.Encoding
}{
	{"gpt-4o", tokenizer.O200kBase},
	{"gpt-4.1", tokenizer.O200kBase},
	{"gpt-4.5", tokenizer.O200kBase},
	{"chatgpt-4o", tokenizer.O200kBase},
	{"gpt-5-", tokenizer.O200kBase},
	{"o1", tokenizer.O200kBase},
	{"o3", tokenizer.O200kBase},
	{"o4-mini", tokenizer.O200kBase},
	{"gpt-4-", tokenizer.Cl100kBase},
	{"gpt-3.5", tokenizer.Cl100kBase},
	{"text-embedding-", tokenizer.Cl100kBase},
}

// encodingOf returns the encoding for a model, and whether it is the model's own.
func encodingOf(model string) (encoding tokenizer.Encoding, exact bool) {
	model = strings.TrimPrefix(model, "openai/")
	switch model {
	case "gpt-5":
		return tokenizer.O200kBase, true
	case "gpt-4":
		return tokenizer.Cl100kBase, true
	}
	for _, f := range families {
		if strings.HasPrefix(model, f.prefix) {
			return f.encoding, true
		}
	}
	return tokenizer.O200kBase, false
}

// A vocabulary takes some 10 ms and 20 MB to load, so each is loaded when it is
// first needed, and once for the whole process.
var (
	o200k  = sync.OnceValue(func() func(string) int { return counting(tokenizer.O200kBase) })
	cl100k = sync.OnceValue(func() func(string) int { return counting(tokenizer.Cl100kBase) })
)

func load(encoding tokenizer.Encoding) func(string) int {
	if encoding == tokenizer.Cl100kBase {
		return cl100k()
	}
	return o200k()
}

// counting returns the function that counts with an encoding.
func counting(encoding tokenizer.Encoding) func(string) int {
	codec, err := tokenizer.Get(encoding)
	if err != nil {
		panic(err) // only the two encodings above are asked for
	}
	codec.SetErrorMode(tokenizer.ErrorModeReplace)
	return func(text string) int {
		n, err := codec.Count(text)
		if err != nil {
			// The library reports only a time-out of its regular expression, which
			// has none set, and invalid UTF-8 in strict mode.
			panic(err)
		}
		return n
	}
}
