package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/term"

	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
	"github.com/rehearse-dev/rehearse/redact"
)

// terminal returns how to draw on standard error.
func (a *app) terminal() tty.Terminal { return tty.Of(a.stderr, a.getenv) }

// atTerminal reports whether somebody can be asked on standard input.
func (a *app) atTerminal() bool {
	f, ok := a.stdin.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// view returns a view on standard error, or on nothing.
func (a *app) view(quiet bool) *console.View {
	if quiet {
		return console.NewView(io.Discard, tty.Terminal{}, nil)
	}
	return console.NewView(a.stderr, a.terminal(), redactor())
}

// redactor takes the secrets of this process's environment out of texts.
func redactor() *redact.Redactor { return redact.New(redact.SecretsIn(os.Environ())) }

// tool is the program's name and version, as files name it.
func tool() string { return "rehearse " + toolVersion() }

// transcriptFile is the file that a flag names, or a new one for that kind of agent.
func transcriptFile(flag, agent string) string {
	return cmp.Or(flag, filepath.Join(runsFolder, agent+"-"+time.Now().UTC().Format("20060102-150405.000")+".jsonl"))
}

// printResult prints the result of an agent as JSON, or only its text.
func (a *app) printResult(result any, text string, asJSON bool) (err error) {
	if asJSON {
		err = a.printJSON(result)
	} else {
		err = a.printText(text)
	}
	if err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}

// printJSON prints as encoding/json does, in which durations are nanoseconds.
func (a *app) printJSON(value any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// printText prints what a model wrote. It moves no cursor on a terminal; a pipe gets it as
// it is.
func (a *app) printText(text string) error {
	if tty.Of(a.stdout, a.getenv) != (tty.Terminal{}) {
		text = sanitize.Text(text, 0)
	}
	_, err := fmt.Fprintln(a.stdout, text)
	return err
}
