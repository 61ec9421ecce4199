// Package label lets a person label messages: File records the labels of one annotator, and View
// shows the messages on a terminal.
package label

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/gofrs/flock"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/jsonl"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// Limits on the messages, which are all in memory.
const (
	maxMessages = 100_000
	maxBytes    = 256 << 20
)

// annotators are names that are safe in a file name.
var annotators = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$`)

// Path returns the file for the labels of an annotator, beside the messages: mine.ada.jsonl for
// mine.jsonl and ada. Without an annotator it is mine.labels.jsonl.
func Path(messages, annotator string) (string, error) {
	if annotator == "" {
		annotator = "labels"
	}
	if !annotators().MatchString(annotator) {
		return "", fmt.Errorf("annotator %q: a name must have 1 to 40 letters, digits, hyphens and underscores", annotator)
	}
	extension := filepath.Ext(messages)
	return strings.TrimSuffix(messages, extension) + "." + annotator + extension, nil
}

// File has messages and the file with the labels of one annotator. Each label is on the disk when
// Label returns. It is not safe for concurrent use.
type File struct {
	path     string
	messages []detect.Item
	at       map[string]int // index of a message by its ID
	labelled []bool         // by index
	done     []entry        // in the order of the file
	size     int64          // of the file
	current  int            // index of the message to label
	file     *os.File
	log      *jsonl.Log
	lock     *flock.Flock
}

// entry is a label in the file.
type entry struct {
	message int
	label   string
	start   int64
}

// Open reads the messages and the labels that path has already, and locks path. Labels in the
// messages themselves are ignored. A line that was cut off by a crash is removed.
func Open(messages, path string) (*File, error) {
	f := &File{path: path, at: map[string]int{}}
	if err := f.readMessages(messages); err != nil {
		return nil, err
	}
	f.lock = flock.New(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock"), flock.SetPermissions(0o600))
	if locked, err := f.lock.TryLock(); err != nil {
		return nil, fmt.Errorf("lock the labels %s: %w", path, err)
	} else if !locked {
		return nil, fmt.Errorf("the labels %s are in use by another process; choose another annotator", path)
	}
	var err error
	if f.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		err = fmt.Errorf("open the labels: %w", err)
	} else {
		err = f.readLabels(messages)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	f.advance()
	return f, nil
}

func (f *File) readMessages(name string) error {
	in, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("read the messages: %w", err)
	}
	defer in.Close()
	size := 0
	var bad []error
	for item, err := range detect.ReadMessages(in, filepath.Base(name)) {
		if err != nil {
			if bad = append(bad, err); len(bad) == 20 {
				break
			}
			continue
		}
		if size += len(item.Text) + len(item.Request); size > maxBytes || len(f.messages) == maxMessages {
			return fmt.Errorf("label %s: at most %d messages with %d MB fit into memory; split the file", name, maxMessages, maxBytes>>20)
		}
		f.at[item.ID] = len(f.messages)
		f.messages = append(f.messages, item)
	}
	switch {
	case bad != nil:
		return fmt.Errorf("the messages are not readable: %w", errors.Join(bad...))
	case f.messages == nil:
		return fmt.Errorf("label %s: the file has no messages", name)
	}
	f.labelled = make([]bool, len(f.messages))
	return nil
}

// readLabels reads the labels in the file, and opens the log behind the last whole line.
func (f *File) readLabels(messages string) error {
	lines := jsonl.NewReader(f.file, maxBytes)
	unended := false // the last line is whole, but an editor did not end it
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = f.readLabel(line, messages)
		}
		if lines.Torn() && err != nil {
			break // cut off by a crash
		}
		if err != nil {
			return fmt.Errorf("read the labels: %s:%d: %w", f.path, lines.Line(), err)
		}
		f.size, unended = lines.Offset(), lines.Torn()
	}
	f.log = jsonl.NewLog(f.file, f.size, 1)
	err := f.log.Cut()
	if err == nil && unended {
		err = f.log.Append([]byte("\n"))
		f.size++
	}
	if err != nil {
		return fmt.Errorf("repair the labels %s: %w", f.path, err)
	}
	return nil
}

// readLabel reads a line that starts at f.size.
func (f *File) readLabel(line []byte, messages string) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var item detect.Item
	if err := json.Unmarshal(line, &item); err != nil {
		return fmt.Errorf("not an item: %w", err)
	}
	i, known := f.at[item.ID]
	switch {
	case !known:
		return fmt.Errorf("the message %q is not in %s", item.ID, messages)
	case item.Text != f.messages[i].Text:
		return fmt.Errorf("the message %q has another text than in %s", item.ID, messages)
	case f.labelled[i]:
		return fmt.Errorf("the message %q is already labelled in an earlier line", item.ID)
	case !slices.Contains(detect.Messages.Labels(), item.Label):
		return fmt.Errorf("the label %q is not one of %s", item.Label, strings.Join(detect.Messages.Labels(), ", "))
	}
	f.labelled[i] = true
	f.done = append(f.done, entry{i, item.Label, f.size})
	return nil
}

// advance moves to the next message without a label, after the last one to the first; it does not
// move if all are labelled.
func (f *File) advance() {
	for n := range f.messages {
		if i := (f.current + n) % len(f.messages); !f.labelled[i] {
			f.current = i
			return
		}
	}
}

// Current returns the message to label; false if all are labelled.
func (f *File) Current() (detect.Item, bool) {
	return f.messages[f.current], len(f.done) < len(f.messages)
}

// Progress returns the number of labels, the number of messages, and the position of the current
// message, from 1.
func (f *File) Progress() (labelled, messages, position int) {
	return len(f.done), len(f.messages), f.current + 1
}

// Counts returns the number of messages with each label.
func (f *File) Counts() map[string]int {
	counts := map[string]int{}
	for _, e := range f.done {
		counts[e.label]++
	}
	return counts
}

// Label labels the current message and moves to the next one. After an error the file and the
// current message are unchanged.
func (f *File) Label(label, confidence string) error {
	item, ok := f.Current()
	if !ok {
		return errors.New("all messages are labelled")
	}
	item.Label, item.Confidence = label, confidence
	line, err := json.Marshal(item)
	if err == nil {
		err = f.log.Append(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("save the label of %q in %s: %w", item.ID, f.path, err)
	}
	f.done = append(f.done, entry{f.current, label, f.size})
	f.size += int64(len(line)) + 1
	f.labelled[f.current] = true
	f.advance()
	return nil
}

// Undo removes the last label, also of an earlier session, and returns to its message. It reports
// false without a label to undo.
func (f *File) Undo() (bool, error) {
	if len(f.done) == 0 {
		return false, nil
	}
	last := f.done[len(f.done)-1]
	log := jsonl.NewLog(f.file, last.start, 1)
	if err := log.Cut(); err != nil {
		return false, fmt.Errorf("remove the last label from %s: %w", f.path, err)
	}
	f.log, f.size = log, last.start
	f.done = f.done[:len(f.done)-1]
	f.labelled[last.message] = false
	f.current = last.message
	return true, nil
}

// Skip moves to the next message without a label; a skipped message returns after the last one.
func (f *File) Skip() {
	f.current = (f.current + 1) % len(f.messages)
	f.advance()
}

// Close closes the file and unlocks it.
func (f *File) Close() error {
	var err error
	switch {
	case f.log != nil:
		err = f.log.Close()
	case f.file != nil:
		err = f.file.Close()
	}
	return errors.Join(err, f.lock.Unlock())
}
