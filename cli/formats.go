package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// The formats of documents.
const (
	formatTerminal = "terminal"
	formatJSON     = "json"
	formatMarkdown = "markdown"
	formatComment  = "comment"
	formatHTML     = "html"
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

// formatFlag adds --format.
func formatFlag(cmd *cobra.Command, value *string, formats ...string) {
	cmd.Flags().StringVar(value, "format", formatTerminal, "one of "+joined(formats))
	complete(cmd, "format", formats...)
}

// output writes to the file that the user named, whole or not at all, or to standard output; in
// is the file that is read.
func (a *app) output(name string, binary bool, in string, write func(io.Writer) error) error {
	if name != "" {
		if input.SameFile(name, in) {
			return usage(fmt.Errorf("--out %s is the recording itself; name another file", name))
		}
		return atomicdir.ReplaceWith(name, write)
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
