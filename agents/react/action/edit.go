package action

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

type editInput struct {
	Path string `yaml:"path"`
	Old  string `yaml:"old"`
	New  string `yaml:"new"`
}

// edit replaces the one occurrence of a text in a file.
func (w *work) edit(in editInput) (string, error) {
	name, err := w.writable(in.Path)
	if err != nil {
		return "", err
	}
	data, err := w.content(name)
	if err != nil {
		return "", err
	}
	line, edited, err := replaceOnce(data, in.Old, in.New)
	if err != nil {
		return "", fail(ruleNoMatch, "%s: %v", clip(name), err)
	}
	if err := w.gate.Approve(w.ctx, Request{Action: editAction, Subject: name, Detail: describeEdit(line, in.Old, in.New)}); err != nil {
		return "", err
	}
	text, err := w.write(name, edited)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("replaced 1 occurrence at line %d; %s", line, text), nil
}

// replaceOnce replaces the only occurrence of old, and returns its line. In a file with CRLF line ends, the line
// breaks of both texts are such, too.
func replaceOnce(data []byte, old, replacement string) (line int, edited []byte, err error) {
	if bytes.Contains(data, []byte("\r\n")) && !strings.Contains(old, "\r") {
		old, replacement = strings.ReplaceAll(old, "\n", "\r\n"), strings.ReplaceAll(replacement, "\n", "\r\n")
	}
	switch n := bytes.Count(data, []byte(old)); {
	case old == "":
		return 0, nil, errEmpty
	case old == replacement:
		return 0, nil, errSame
	case n == 0:
		return 0, nil, errNoOccurrence
	case n > 1:
		return 0, nil, fmt.Errorf("old occurs %d times, at the lines %s; add the text around it", n, strings.Join(linesOf(data, old), ", "))
	}
	at := bytes.Index(data, []byte(old))
	edited = slices.Concat(data[:at], []byte(replacement), data[at+len(old):])
	return 1 + bytes.Count(data[:at], []byte("\n")), edited, nil
}

// The reasons why a text cannot be replaced.
var (
	errEmpty        = editError("old is empty; give the text to replace")
	errSame         = editError("old and new are the same")
	errNoOccurrence = editError("old does not occur; give the text exactly as it is in the file, with its indentation")
)

type editError string

func (e editError) Error() string { return string(e) }

// maxOccurrences is the largest number of lines that are listed.
const maxOccurrences = 5

// linesOf returns the lines of the first occurrences of a text.
func linesOf(data []byte, text string) []string {
	var lines []string
	for from := 0; len(lines) < maxOccurrences; {
		i := bytes.Index(data[from:], []byte(text))
		if i < 0 {
			return lines
		}
		lines = append(lines, strconv.Itoa(1+bytes.Count(data[:from+i], []byte("\n"))))
		from += i + len(text)
	}
	return append(lines, "…")
}

// describeEdit describes an edit for the person who approves it.
func describeEdit(line int, old, replacement string) string {
	mark := func(sign, text string) string {
		if text == "" {
			return ""
		}
		return "\n" + sign + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+sign)
	}
	return fmt.Sprintf("line %d:", line) + mark("- ", old) + mark("+ ", replacement)
}
