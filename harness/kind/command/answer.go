package command

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/internal/jsonpath"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// maxRaw limits the raw output of an answer, in bytes.
const maxRaw = 64 << 10

// maxQuote limits the output that an error message quotes, in characters.
const maxQuote = 200

// read finds the answer in the output of a program.
func (a *agent) read(out []byte) (app.Answer, error) {
	if err := readable(out); err != nil {
		return app.Answer{}, err
	}
	switch a.opts.Output {
	case outputJSON:
		text, err := a.path.Text(out)
		if err != nil {
			return app.Answer{}, misshapen(a.opts, out, err)
		}
		return app.Answer{Text: text, Raw: raw(out)}, nil
	case outputJSONL:
		return a.readLines(out)
	default:
		return app.Answer{Text: strings.TrimSpace(string(out))}, nil
	}
}

// readLines reads the answer from the last line with one. Every line must be JSON, which
// reveals other output of the program.
func (a *agent) readLines(out []byte) (app.Answer, error) {
	answer, some := "", false
	for line := range bytes.Lines(out) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		switch text, err := a.path.Text(line); {
		case err == nil:
			answer, some = text, true
		case !errors.Is(err, jsonpath.ErrAbsent):
			return app.Answer{}, misshapen(a.opts, line, err)
		}
	}
	if !some {
		return app.Answer{}, misshapen(a.opts, out, jsonpath.ErrAbsent)
	}
	return app.Answer{Text: answer, Raw: raw(out)}, nil
}

// readable returns an error for output that is not text.
func readable(out []byte) error {
	at := bytes.IndexByte(out, 0)
	if at < 0 && utf8.Valid(out) {
		return nil
	}
	if at < 0 {
		for at = 0; at < len(out); {
			r, size := utf8.DecodeRune(out[at:])
			if r == utf8.RuneError && size <= 1 {
				break
			}
			at += size
		}
	}
	return app.Errorf(app.Unusable, "the program printed binary data: byte %d is %#02x, which is not UTF-8 text", at+1, out[at])
}

// misshapen returns the error of an output that does not have the configured form.
func misshapen(o Options, out []byte, why error) *app.Error {
	printed := sanitize.Line(string(out[:min(len(out), 4*maxQuote)]), maxQuote)
	if printed == "" {
		printed = "nothing"
	}
	form := "JSON"
	if o.Output == outputJSONL {
		form = "lines of JSON, one of them"
	}
	return app.Errorf(app.Unusable, "expected %s with %s in the program's output (output: %s, answer: %s): %w; it printed: %s",
		form, o.Answer, o.Output, o.Answer, why, printed)
}

func raw(out []byte) string {
	return strings.ToValidUTF8(string(out[:min(len(out), maxRaw)]), "")
}
