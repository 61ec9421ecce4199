package persist

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

// candidate is a file that may be relevant for a task.
type candidate struct {
	path string
	// guessed is true for a word of a text that looks like a path. It is ignored if there is no such
	// file.
	guessed bool
}

// maxGuessed is the largest number of paths that are taken from texts.
const maxGuessed = 50

// relevant returns the files for the prompt of a task, the most relevant first: those that the plan names
// for it, those that its text names, those that the notes of earlier attempts and answers name, and those
// that were used last. used has the least recently used file first.
func relevant(t state.Task, used []string) []candidate {
	var all []candidate
	seen := map[string]bool{}
	add := func(name string, guessed bool) {
		name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
		if !seen[name] && filepath.IsLocal(filepath.FromSlash(name)) {
			seen[name] = true
			all = append(all, candidate{name, guessed})
		}
	}
	for _, name := range t.Files {
		add(name, false)
	}
	texts := []string{t.Do, t.Details, t.Carry}
	for _, a := range t.Answers {
		texts = append(texts, a.Text)
	}
	for _, name := range pathsIn(strings.Join(texts, "\n")) {
		add(name, true)
	}
	for _, name := range slices.Backward(used) {
		add(name, false)
	}
	return all
}

// pathsIn returns the words of a text that look like paths, such as src/cart.go or README.md, but not hidden
// files such as .env, which only the plan may name.
func pathsIn(text string) (paths []string) {
	words := strings.FieldsFunc(text, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsNumber(c) && !strings.ContainsRune(`_./\-`, c)
	})
	for _, word := range words {
		word = strings.TrimRight(strings.TrimPrefix(word, "./"), "./")
		if (strings.Contains(word, "/") || len(path.Ext(word)) > 1) && !hidden(word) && len(paths) < maxGuessed {
			paths = append(paths, word)
		}
	}
	return paths
}

// hidden reports whether an element of a path begins with a dot.
func hidden(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.HasPrefix(part, ".") })
}

// excerpts are the contents of files in a prompt.
type excerpts struct {
	words *phrases
	read  func(name string, most int) ([]byte, int64, error)
	each  int // bytes of a file at most
	left  int // bytes for further files

	shown   strings.Builder
	omitted []string // names with the reason
}

// add adds files in their order. A file that does not fit is left out, and smaller ones may follow.
func (x *excerpts) add(files []candidate) {
	for _, file := range files {
		data, size, err := x.read(file.path, x.each)
		name := oneLine(file.path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && file.guessed:
		case errors.Is(err, fs.ErrNotExist):
			x.omitted = append(x.omitted, name+" ("+x.words.missing+")")
		case err != nil && file.guessed: // such as a folder
		case err != nil:
			x.omitted = append(x.omitted, name+" ("+x.words.unreadable+")")
		case bytes.IndexByte(data, 0) >= 0:
			x.omitted = append(x.omitted, name+" ("+x.words.binary+x.words.size(int(size))+")")
		default:
			x.addText(name, data, size)
		}
	}
}

// addText adds the text of a file if it fits.
func (x *excerpts) addText(name string, data []byte, size int64) {
	text, part := strings.ToValidUTF8(string(data), "\uFFFD"), ""
	if int64(len(data)) < size {
		text = wholeLines(text)
		part = fmt.Sprintf(x.words.first, len(text))
	}
	if len(text) > x.left {
		x.omitted = append(x.omitted, name+" ("+x.words.size(int(size))+")")
		return
	}
	x.left -= len(text)
	fence := fenceFor(text)
	fmt.Fprintf(&x.shown, "\n%s (%s%s):\n%s\n%s", name, part, x.words.size(int(size)), fence, text)
	if !strings.HasSuffix(text, "\n") {
		x.shown.WriteString("\n")
	}
	x.shown.WriteString(fence + "\n")
}

// wholeLines returns a text without an incomplete last line, unless it has only one.
func wholeLines(text string) string {
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		return text[:i+1]
	}
	return text
}

// fenceFor returns a fence of backticks that a text does not contain.
func fenceFor(text string) string {
	longest, run := 2, 0
	for _, c := range text {
		if run++; c != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}

// text returns the part of the prompt; empty without files.
func (x *excerpts) text() string {
	var b strings.Builder
	if x.shown.Len() > 0 {
		b.WriteString(x.words.contents + x.shown.String())
	}
	if len(x.omitted) > 0 {
		b.WriteString(x.words.notShown + x.words.lines(x.omitted))
	}
	return b.String()
}
