package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/harness/label"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports"
)

// checkMode returns an error for flags that --label and --agreement do not use.
func (d *detectFlags) checkMode(given *pflag.FlagSet) error {
	mode, allowed := "--label", []string{"label", "annotator"}
	switch {
	case d.label && d.agreement:
		return errors.New("--label and --agreement do not go together")
	case d.agreement:
		mode, allowed = "--agreement", []string{"agreement", "json"}
	case !d.label && d.annotator != "":
		return errors.New("--annotator needs --label")
	case !d.label:
		return nil
	}
	var others []string
	given.Visit(func(f *pflag.Flag) {
		if !slices.Contains(allowed, f.Name) {
			others = append(others, "--"+f.Name)
		}
	})
	if others != nil {
		return fmt.Errorf("%s does not go together with %s", mode, strings.Join(others, ", "))
	}
	return nil
}

// labelMessages lets a person label the messages of a file.
func (a *app) labelMessages(ctx context.Context, args []string, annotator string) error {
	if len(args) != 1 {
		return usage(fmt.Errorf("--label needs the file of the messages, such as rehearse detect --label mine.jsonl; got %d files", len(args)))
	}
	path, err := label.Path(args[0], annotator)
	if err != nil {
		return usage(err)
	}
	if !a.atTerminal() || !console.IsTerminal(a.stdout) {
		return usage(errors.New("--label needs a terminal for its input and output"))
	}
	file, err := label.Open(args[0], path)
	if err != nil {
		return usage(err)
	}
	view := label.NewView(file)
	view.Title = filepath.Base(path)
	view.Color = console.TerminalOf(a.stdout, a.getenv).Color
	interrupted, err := a.showView(ctx, view)
	if err := errors.Join(err, file.Close()); err != nil {
		return noVerdict(err)
	}
	if err := a.concludeLabels(args[0], path, file); err != nil {
		return noVerdict(err)
	}
	if interrupted {
		return quiet(exitInterrupted)
	}
	return nil
}

// The control sequences around a full-screen view: the alternate screen without a cursor, where
// long lines are cut rather than continued.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	leaveScreen = "\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// showView shows a view on the terminal until the person quits or the input ends. It reports
// whether the person pressed ctrl-C or ctx ended.
func (a *app) showView(ctx context.Context, view *label.View) (interrupted bool, err error) {
	stdin, _ := a.stdin.(*os.File)
	stdout, _ := a.stdout.(*os.File)
	before, err := term.MakeRaw(int(stdin.Fd()))
	if err != nil {
		return false, fmt.Errorf("prepare the terminal: %w", err)
	}
	defer func() { _ = term.Restore(int(stdin.Fd()), before) }()
	fmt.Fprint(stdout, enterScreen)
	defer fmt.Fprint(stdout, leaveScreen)
	keys := input.Interruptible(ctx, stdin)
	defer keys.Close()
	typed := make([]byte, 256)
	for {
		if width, height, err := term.GetSize(int(stdout.Fd())); err == nil {
			view.Resize(width, height)
		}
		fmt.Fprint(stdout, "\x1b[H"+strings.Join(view.Screen(), "\x1b[K\r\n")+"\x1b[K\x1b[J")
		n, err := keys.Read(typed)
		switch {
		case ctx.Err() != nil:
			return true, nil
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("read a key: %w", err)
		}
		for _, key := range label.Keys(typed[:n]) {
			switch key { // what a raw terminal does not handle
			case "\x03": // ctrl-C
				return true, nil
			case "\x04": // ctrl-D
				return false, nil
			}
			if quit, err := view.Press(key); quit || err != nil {
				return false, err
			}
		}
	}
}

// concludeLabels prints how many messages have which label, and the agreement with each other
// annotator of the same messages.
func (a *app) concludeLabels(messages, path string, file *label.File) error {
	labelled, all, _ := file.Progress()
	counts := file.Counts()
	var each []string
	for _, l := range detect.Messages.Labels() {
		each = append(each, fmt.Sprintf("%d %s", counts[l], l))
	}
	fmt.Fprintf(a.stdout, "%d of %d messages are labelled in %s: %s\n", labelled, all, sanitize.Line(path, 0), strings.Join(each, ", "))
	extension := filepath.Ext(messages)
	others, err := filepath.Glob(globQuote(strings.TrimSuffix(messages, extension)) + ".*" + globQuote(extension))
	if err != nil {
		return err
	}
	for _, other := range others {
		if other == path {
			continue
		}
		agreement, err := agree(path, other)
		if err != nil {
			fmt.Fprintf(a.stderr, "no agreement with %s: %v\n", sanitize.Line(other, 0), err)
			continue
		}
		fmt.Fprintf(a.stdout, "with %s, %s have a label in both: %s\n", sanitize.Line(other, 0),
			format.Plural(agreement.Agreement.N, "message"), reports.AgreementText(&agreement.Classes))
	}
	return nil
}

// globQuote escapes the special characters of a pattern.
func globQuote(name string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(name)
}

// compareLabels prints the agreement of two files of labels.
func (a *app) compareLabels(args []string, asJSON bool) error {
	if len(args) != 2 {
		return usage(fmt.Errorf("--agreement needs the labels of two annotators, such as mine.ada.jsonl mine.ben.jsonl; got %d files", len(args)))
	}
	agreement, err := agree(args[0], args[1])
	if err != nil {
		return usage(err)
	}
	report := reports.Agreement{Tool: tool(), First: args[0], Second: args[1], Agreement: *agreement}
	if err := a.show(document{reports.AgreementDocument(&report), report, report.Tool}, asJSON); err != nil {
		return noVerdict(err)
	}
	return nil
}

func agree(first, second string) (*detect.Agreement, error) {
	a, err := os.Open(first)
	if err != nil {
		return nil, fmt.Errorf("read the labels: %w", err)
	}
	defer a.Close()
	b, err := os.Open(second)
	if err != nil {
		return nil, fmt.Errorf("read the labels: %w", err)
	}
	defer b.Close()
	found, err := detect.Agree(detect.ReadCorpus(a, first, detect.Messages), detect.ReadCorpus(b, second, detect.Messages), detect.Messages)
	if err == nil && found.Agreement.N == 0 {
		err = fmt.Errorf("compare %s with %s: no message has a label in both", first, second)
	}
	return found, err
}
