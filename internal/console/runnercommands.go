package console

import (
	"bytes"
	"io"
	"os"
)

// GitHub's runner executes "##[name key=value]text" anywhere in a line of output as a command, which can
// mask words, stop other commands, or fail the step.
const (
	runnerCommand = "##["
	// harmlessCommand is readable, and equal to runnerCommand within JSON.
	harmlessCommand = `##\u005b`
)

// WithoutRunnerCommands returns a writer to w that disables commands to GitHub's runner in foreign text.
// It returns w itself if that is a regular file, which no runner reads.
func WithoutRunnerCommands(w io.Writer) io.Writer {
	if file, ok := w.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return w
		}
	}
	return &commandFilter{w: w}
}

// Unfiltered undoes WithoutRunnerCommands, for output that is not text.
func Unfiltered(w io.Writer) io.Writer {
	if f, ok := w.(*commandFilter); ok {
		return f.w
	}
	return w
}

// commandFilter replaces runnerCommand, even if it is split between writes.
type commandFilter struct {
	w io.Writer
	// open is the number of bytes of runnerCommand at the end of the output: 0, 1 or 2.
	open int
}

// Write implements io.Writer.
func (f *commandFilter) Write(p []byte) (int, error) {
	text := append([]byte(runnerCommand[:f.open]), p...)
	safe := bytes.ReplaceAll(text, []byte(runnerCommand), []byte(harmlessCommand))
	if _, err := f.w.Write(safe[f.open:]); err != nil {
		return 0, err
	}
	f.open = 0
	for n := len(runnerCommand) - 1; n > 0 && f.open == 0; n-- {
		if bytes.HasSuffix(text, []byte(runnerCommand[:n])) {
			f.open = n
		}
	}
	return len(p), nil
}
