package agent

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// style describes the command line and the output of one program.
type style struct {
	// read parses an invocation as strictly as the real program.
	read func(hello) (invocation, error)
	// answer adds the lines of an answer or, if a.failure is set, of a failure.
	answer func(a *act)
	// flood is the line for opFlood.
	flood string
	// usageStatus is the exit status for unknown arguments.
	usageStatus int
}

// invocation is a parsed command line.
type invocation struct{ prompt, system, model string }

var styles = map[string]style{
	"claude":  {read: readClaude, answer: claudeAnswer, flood: floodEvent, usageStatus: 1},
	"codex":   {read: readCodex, answer: codexAnswer, flood: floodEvent, usageStatus: 2},
	"gemini":  {read: readGemini, answer: geminiAnswer, flood: floodEvent, usageStatus: 1},
	"copilot": {read: readCopilot, answer: copilotAnswer, flood: floodEvent, usageStatus: 1},
	"exec":    {read: readPlain, answer: plainAnswer, flood: "All work and no play.\n"},
}

const floodEvent = `{"type":"progress","note":"All work and no play."}` + "\n"

func findStyle(name string) (style, error) {
	s, ok := styles[name]
	if !ok {
		return s, fmt.Errorf("unknown scripted agent %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(styles)), ", "))
	}
	return s, nil
}

// options are parsed arguments.
type options struct {
	flags map[string]string // value, or "true"
	rest  []string
}

// parseArgs parses arguments. switches and valued are lists of flags, separated by spaces; those in
// valued take a value. In a=b, b is a synonym of the flag a.
func parseArgs(args []string, switches, valued string) (options, error) {
	names := map[string]string{}
	takes := map[string]bool{}
	for i, list := range []string{switches, valued} {
		for spec := range strings.FieldsSeq(list) {
			name, _, _ := strings.Cut(spec, "=")
			for alias := range strings.SplitSeq(spec, "=") {
				names[alias], takes[alias] = name, i == 1
			}
		}
	}
	o := options{flags: map[string]string{}}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		flag, value, given := strings.Cut(arg, "=")
		name, known := names[flag]
		switch {
		case arg == "--":
			o.rest = append(o.rest, args...)
			args = nil
		case arg == "-" || !strings.HasPrefix(arg, "-"):
			o.rest = append(o.rest, arg)
		case !known:
			return o, fmt.Errorf("unexpected argument %q", arg)
		case !takes[flag]:
			o.flags[name] = "true"
		case given:
			o.flags[name] = value
		case len(args) == 0:
			return o, fmt.Errorf("argument %q needs a value", arg)
		default:
			o.flags[name] = args[0]
			args = args[1:]
		}
	}
	return o, nil
}

// want returns an error for the first required flag that is missing or has another value.
func (o options) want(pairs ...string) error {
	for i := 0; i < len(pairs); i += 2 {
		if o.flags[pairs[i]] != pairs[i+1] {
			return fmt.Errorf("this scripted agent needs %s %s", pairs[i], strings.TrimSuffix(pairs[i+1], "true"))
		}
	}
	return nil
}

// invoke returns the invocation. An empty prompt is read from standard input.
func invoke(h hello, prompt, system, model string) (invocation, error) {
	if prompt == "" {
		prompt = h.Stdin
	}
	if strings.TrimSpace(prompt) == "" {
		return invocation{}, errors.New("no prompt was given, neither as an argument nor on standard input")
	}
	return invocation{prompt: prompt, system: system, model: model}, nil
}

// derive returns an identifier in the form of a UUID for an answer and a purpose.
func derive(id, purpose string) string {
	h := sha256.Sum256([]byte(purpose + "\x00" + id))
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80 // version 8: defined by the application
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// toolOutput is the result of all tool calls, which scripts do not have.
const toolOutput = "ok"
