package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// The formats of documents.
const (
	formatTerminal = "terminal"
	formatCSV      = "csv"
	formatJSON     = "json"
	formatMarkdown = "markdown"
	formatComment  = "comment"
	formatHTML     = "html"
	formatSARIF    = "sarif"
)

// commentBytes is below the limit of a comment on GitHub, which is 65,536 characters, and on
// GitLab.
const commentBytes = 65_000

// document is a document with the value that JSON shows, and the program that made it.
type document struct {
	doc.Document
	value any
	tool  string
}

// show prints a document on standard output, for a person or as JSON.
func (a *app) show(d document, asJSON bool) error {
	if asJSON {
		return a.write(a.stdout, d, formatJSON)
	}
	return a.write(a.stdout, d, formatTerminal)
}

// write writes a document in a format. That of a terminal fits standard output.
func (a *app) write(w io.Writer, d document, format string) error {
	switch format {
	case formatJSON:
		return reports.JSON(w, d.value)
	case formatMarkdown:
		return doc.Markdown(w, d.Document, 0)
	case formatComment:
		return doc.Markdown(w, d.Document, commentBytes)
	case formatHTML:
		return doc.HTML(w, d.Document, d.tool)
	}
	return doc.Terminal(w, d.Document, console.TerminalOf(a.stdout, a.getenv))
}

// formatFlag adds --format and, unless what is empty, --json, which prints what as JSON.
func formatFlag(cmd *cobra.Command, value *string, what string, formats ...string) {
	f := cmd.Flags()
	formats = slices.DeleteFunc(slices.Clone(formats), func(name string) bool { return name == formatJSON })
	*value = formatTerminal
	f.Var(&formatValue{value, formats}, "format", "one of "+joined(formats))
	complete(cmd, "format", formats...)
	if what == "" {
		return
	}
	f.BoolFunc("json", "print "+what+" as JSON", func(text string) error {
		asJSON, err := strconv.ParseBool(text)
		if asJSON {
			*value = formatJSON
		}
		return err
	})
	cmd.MarkFlagsMutuallyExclusive("format", "json")
}

// formatValue is the value of --format.
type formatValue struct {
	value   *string
	formats []string
}

// String implements pflag.Value.
func (v *formatValue) String() string {
	if v.value == nil {
		return ""
	}
	return *v.value
}

// Type implements pflag.Value.
func (*formatValue) Type() string { return "format" }

// Set implements pflag.Value.
func (v *formatValue) Set(text string) error {
	switch {
	case text == formatJSON:
		return errors.New("for JSON use --json")
	case !slices.Contains(v.formats, text):
		return suggest.NotAmong("format", text, v.formats)
	}
	*v.value = text
	return nil
}

// output writes to the file that the user named, whole or not at all, or to standard output; in
// is the file that is read.
func (a *app) output(name string, binary bool, in string, write func(io.Writer) error) error {
	if name != "" {
		if input.SameFile(name, in) {
			return usage(fmt.Errorf("--out %s is the recording itself; name another file", name))
		}
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			return usage(fmt.Errorf("--out %s is a folder; name a file", name))
		}
		err := atomicdir.ReplaceWith(name, write)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR) {
			err = usage(fmt.Errorf("--out: %w; choose another file", err)) // nothing was written
		}
		return err
	}
	stdout := a.stdout
	if binary {
		if console.IsTerminal(stdout) {
			return usage(errors.New("this format is not for a terminal; name a file with --out, or redirect the output"))
		}
		stdout = console.Unfiltered(stdout)
	}
	out := bufio.NewWriterSize(stdout, 64<<10)
	if err := write(out); err != nil {
		_ = out.Flush() // for a reader: as far as it goes
		return err
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
