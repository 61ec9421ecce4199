package action

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// maxValue is the largest size of an input value of a command, in bytes.
const maxValue = 8 << 10

// inherited are the environment variables of a command. Others may be keys of providers.
var inherited = []string{
	"PATH", "HOME", "TMPDIR", "TEMP", "TMP", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "LOGNAME", "SHELL",
	"SystemRoot", "SystemDrive", "PATHEXT", "COMSPEC", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
}

// command runs a custom action.
func (w *work) command(a agentfile.Action, input string) (string, error) {
	values, err := w.values(a, input)
	if err != nil {
		return "", err
	}
	argv, err := arguments(a.Command, values)
	if err != nil {
		return "", err
	}
	return w.finish(a.ID, argv, a.Timeout, nil)
}

// finish runs a program to its end and describes that. Start replaces cmd.Start, if it is set.
func (w *work) finish(id string, argv []string, limit quantity.Duration, start func(*exec.Cmd) error) (string, error) {
	out, end, err := w.run(argv, limit.Std(), start)
	if err != nil {
		if e, ok := errors.AsType[*exec.Error](err); ok {
			err = e.Err
		}
		return "", fail(ruleNoProgram, "%s cannot be started: %v", clip(argv[0]), sanitize.WithoutPath(err))
	}
	switch {
	case errors.Is(end.Cause, errFlood):
		return "", fail(ruleFlood, "%s wrote more than %d bytes and was stopped; it began with\n%s", id, maxOutput, out.beginning())
	case errors.Is(end.Cause, errTime):
		return "", fail(ruleTimeout, "%s did not end within %s and was stopped; it began with\n%s", id, limit, out.beginning())
	case end.Left:
		return "", fail(ruleLeft,
			"%s ended (%s) and left a program behind that held its output; it began with\n%s", id, end.State, out.beginning())
	case end.Code < 0:
		return "", fail(ruleKilled, "%s was ended (%s); it began with\n%s", id, end.State, out.beginning())
	}
	return fmt.Sprintf("exit status %d\n%s", end.Code, out), nil
}

// values decodes and checks the inputs of a custom action.
func (w *work) values(a agentfile.Action, input string) (map[string]string, error) {
	values := make(map[string]string)
	doc, found := decode(input, &values)
	var names []string
	for _, in := range a.Inputs {
		names = append(names, in.Name)
		if in.Required && doc.Has("") && !doc.Has(in.Name) {
			found = append(found, doc.At("", fmt.Sprintf("the key %q is missing", in.Name), ""))
		}
	}
	for name := range values {
		if !slices.Contains(names, name) {
			d := doc.At(fmt.Sprintf("[%q]", name), fmt.Sprintf("unknown key %q", clip(name)), suggest.Nearest(name, names))
			d.Expected = "one of " + strings.Join(names, ", ")
			found = append(found, d)
		}
	}
	if len(found) > 0 {
		found.Sort()
		return nil, fail(RuleBadInput, "%v", found)
	}
	for _, name := range names {
		if value, given := values[name]; given {
			if err := w.checkValue(name, value); err != nil {
				return nil, err
			}
		}
	}
	return values, nil
}

// checkValue checks the value of one input. A program may interpret any value as a path, so none may
// lead out of the workspace, not even after "@" or "=" as in "@file" and "if=file".
func (w *work) checkValue(name, value string) error {
	if len(value) > maxValue || strings.ContainsRune(value, 0) {
		return fail(RuleBadInput, "the value of %s has more than %d bytes, or a NUL", name, maxValue)
	}
	isOutside := fail(ruleOutside, "the value of %s, %q, names a place outside the workspace", name, clip(value))
	if slices.Contains(strings.FieldsFunc(value, endsElement), "..") || strings.Contains(strings.ToLower(value), "file:") {
		return isOutside
	}
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '@' || r == '=' }) {
		if filepath.IsAbs(part) || strings.HasPrefix(filepath.ToSlash(part), "/") {
			return isOutside
		}
		if len(part) > maxPath || !filepath.IsLocal(filepath.FromSlash(part)) {
			continue
		}
		info, err := w.root.Stat(filepath.FromSlash(part))
		switch {
		case leadsOut(err):
			return explain(part, err)
		case err == nil && info.Mode().IsRegular():
			w.read = append(w.read, clean(part))
		}
	}
	return nil
}

// endsElement reports whether a character ends a path element anywhere in a value.
func endsElement(r rune) bool {
	return strings.ContainsRune(`/\@=:;,'"`, r) || unicode.IsSpace(r)
}

// arguments fills the values into a command. It omits an argument that only is an input without a
// value.
func arguments(command []string, values map[string]string) ([]string, error) {
	var argv []string
	for i, arg := range command {
		name, only := strings.CutPrefix(arg, "{")
		name, closed := strings.CutSuffix(name, "}")
		_, given := values[name]
		if only && closed && !given && agentfile.IsName(name) {
			continue
		}
		filled := agentfile.Fill(arg, values)
		if i > 0 && strings.HasPrefix(filled, "-") && !strings.HasPrefix(arg, "-") {
			return nil, fail(RuleBadInput, "%q begins with \"-\", and a program could take it for an option", clip(filled))
		}
		argv = append(argv, filled)
	}
	return argv, nil
}

// Environment returns the environment of a program of an agent: variables such as PATH, which have no secrets,
// and those of further names.
func Environment(names ...string) []string {
	var env []string
	for _, name := range slices.Concat(inherited, names) {
		if value, ok := os.LookupEnv(name); ok { //nolint:forbidigo // a command needs PATH, HOME and the like of the machine
			env = append(env, name+"="+value)
		}
	}
	return env
}
