package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/redact"
)

// terminal returns the properties of standard error.
func (a *app) terminal() console.Terminal { return console.TerminalOf(a.stderr, a.getenv) }

// colorFlag adds --color to all commands. It sets the variables that everything here obeys.
func (a *app) colorFlag(root *cobra.Command) {
	when, modes := "auto", []string{"auto", "always", "never"}
	root.PersistentFlags().StringVar(&when, "color", when, "use colours: one of "+joined(modes))
	complete(root, "color", modes...)
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if !slices.Contains(modes, when) {
			return notAmong("color", when, modes)
		}
		env := a.getenv
		a.getenv = func(name string) string {
			switch {
			case when == "auto" || name != "NO_COLOR" && name != "CLICOLOR_FORCE":
				return env(name)
			case (when == "never") == (name == "NO_COLOR"):
				return "1"
			}
			return ""
		}
		return nil
	}
}

// atTerminal reports whether standard input is a terminal, so questions can be asked.
func (a *app) atTerminal() bool {
	f, ok := a.stdin.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// view returns a view on standard error; a quiet one shows nothing.
func (a *app) view(quiet bool) *console.View {
	if quiet {
		return console.NewView(io.Discard, console.Terminal{}, nil)
	}
	return console.NewView(a.stderr, a.terminal(), redactor())
}

// redactor returns a redactor of the secrets of this process's environment.
func redactor() *redact.Redactor { return redact.New(redact.SecretsIn(os.Environ())) }

// tool returns the name and version of the program.
func tool() string { return "rehearse " + toolVersion() }

// transcriptFile returns the file of a flag, or a new one for a kind of agent in a folder that git ignores.
func transcriptFile(flag, agent string) string {
	if flag == "" {
		_ = atomicdir.Ignore(runsFolder) // creating the file reports what is wrong
	}
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

// printJSON prints a value as encoding/json does, with durations in nanoseconds.
func (a *app) printJSON(value any) error { return encodeJSON(a.stdout, value) }

func encodeJSON(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// printText prints the text of a model, without control characters on a terminal.
func (a *app) printText(text string) error {
	if console.IsTerminal(a.stdout) {
		text = sanitize.Text(text, 0)
	}
	_, err := fmt.Fprintln(a.stdout, text)
	return err
}
