package label

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/jsonl"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// The keys that are not characters.
const (
	keyUp       = "up"
	keyDown     = "down"
	keyPageUp   = "page-up"
	keyPageDown = "page-down"
	keyHome     = "home"
	keyEnd      = "end"
)

const (
	maxShown     = 200_000 // characters of a message
	maxColumns   = 100     // of its lines, because longer ones are hard to read
	requestLines = 6       // of a request, until all of it is asked for
	headLines    = 2
	footLines    = 4
	leastHeight  = headLines + footLines + 3
)

// View shows the messages of a file one at a time and labels them by keys.
type View struct {
	// Title is shown in the first line.
	Title string
	// Color reports whether colours are wanted.
	Color bool

	file       *File
	confidence string
	top        int // first visible line
	whole      bool
	guide      bool
	note       string // on the last key
	failed     bool   // the note is an error
	width      int
	height     int
	lines      []string // of the current message
}

// NewView returns a view on a file.
func NewView(f *File) *View {
	v := &View{file: f}
	v.Resize(80, 24)
	v.reset()
	return v
}

// Resize sets the size of the terminal.
func (v *View) Resize(width, height int) {
	if width == v.width && height == v.height {
		return
	}
	v.width, v.height = max(width, 40), max(height, leastHeight)
	v.lay()
}

// reset shows the current message from its start.
func (v *View) reset() {
	v.confidence = detect.Confidences()[0]
	v.top, v.whole, v.guide = 0, false, false
	v.lay()
}

// guide describes the labels.
var guide = []struct{ label, meaning string }{
	{detect.Defers, "announces, plans, lists or leaves undone work of the task that the agent could do itself now"},
	{detect.Asks, "cannot continue without the user: a decision, missing input, an approval, an act that only the user can take"},
	{detect.Suggests, "is done with the task, and adds optional ideas or offers"},
	{detect.Clean, "none of these: done, an answer, a report; or a plan that was the task"},
}

// lay wraps what is shown between head and foot.
func (v *View) lay() {
	v.lines = nil
	item, ok := v.file.Current()
	switch {
	case v.guide:
		for i, g := range guide {
			v.section(fmt.Sprintf("%d %s", i+1, g.label), g.meaning)
			v.lines = append(v.lines, "")
		}
		v.lines = append(v.lines, wrap("A blocking question is asks, even if work is left. If some of the listed work was requested, "+
			"defers wins over suggests.", v.width)...)
	case !ok:
		v.lines = []string{"All messages are labelled. u undoes the last label, q quits."}
	default:
		if item.Request != "" {
			v.section("request", item.Request)
			if hidden := len(v.lines) - 1 - requestLines; hidden > 0 && !v.whole {
				v.lines = append(v.lines[:1+requestLines], v.paint(console.Faint, fmt.Sprintf("  … %d more lines; r shows them", hidden)))
			}
			v.lines = append(v.lines, "")
		}
		v.section("message", item.Text)
	}
	v.scroll(0)
}

// section adds a title and an indented text of unknown origin.
func (v *View) section(title, text string) {
	v.lines = append(v.lines, v.paint(console.Bold, title))
	for _, line := range wrap(sanitize.Text(text, maxShown), min(v.width-2, maxColumns)) {
		v.lines = append(v.lines, strings.TrimRight("  "+line, " "))
	}
}

func (v *View) paint(c console.Color, s string) string {
	return console.Terminal{Color: v.Color}.Paint(c, s)
}

// room is the number of lines between head and foot.
func (v *View) room() int { return v.height - headLines - footLines }

func (v *View) scroll(lines int) { v.top = max(0, min(v.top+lines, len(v.lines)-v.room())) }

// Press handles a key that Keys returned. It reports whether to quit. An error means that no more
// labels can be saved.
func (v *View) Press(key string) (quit bool, err error) {
	v.note, v.failed = "", false
	if v.guide {
		v.guide = false
		v.lay()
		if key == "?" {
			return false, nil
		}
	}
	switch key {
	case "q":
		return true, nil
	case "1", "2", "3", "4":
		return false, v.label(detect.Messages.Labels()[key[0]-'1'])
	case "h", "m", "l":
		v.confidence = confidenceOf(key)
	case "u":
		return false, v.undo()
	case "s":
		v.file.Skip()
		v.reset()
	case "r":
		v.whole = !v.whole
		v.lay()
	case "?":
		v.guide = true
		v.lay()
	default:
		v.move(key)
	}
	return false, nil
}

// move scrolls.
func (v *View) move(key string) {
	switch key {
	case keyUp, "k":
		v.scroll(-1)
	case keyDown, "j":
		v.scroll(1)
	case keyPageUp, "b":
		v.scroll(1 - v.room())
	case keyPageDown, " ":
		v.scroll(v.room() - 1)
	case keyHome, "g":
		v.scroll(-len(v.lines))
	case keyEnd, "G":
		v.scroll(len(v.lines))
	}
}

func confidenceOf(key string) string {
	levels := detect.Confidences()
	return levels[slices.IndexFunc(levels, func(c string) bool { return c[:1] == key })]
}

func (v *View) label(label string) error {
	item, ok := v.file.Current()
	if !ok {
		return nil
	}
	if err := v.file.Label(label, v.confidence); err != nil {
		if errors.Is(err, jsonl.ErrBroken) {
			return err
		}
		v.note, v.failed = err.Error(), true
		return nil
	}
	v.note = fmt.Sprintf("%s (%s): %s", label, v.confidence, item.ID)
	v.reset()
	return nil
}

func (v *View) undo() error {
	ok, err := v.file.Undo()
	switch {
	case err != nil:
		return err
	case !ok:
		v.note = "there is no label to undo"
	default:
		v.reset()
		v.note = "the last label is undone"
	}
	return nil
}

// Screen returns the lines of the screen, which are at most as wide and as many as the terminal
// allows. Control characters of messages are escaped.
func (v *View) Screen() []string {
	labelled, messages, position := v.file.Progress()
	item, ok := v.file.Current()
	state := fmt.Sprintf("%d of %d labelled", labelled, messages)
	about := "all done"
	if ok {
		about = fmt.Sprintf("message %d: %s", position, item.ID)
		for _, s := range []string{item.Repo, item.Part, item.Lang} {
			if s != "" {
				about += " · " + s
			}
		}
	}
	title := v.cut(v.Title, v.width-len(state)-2)
	screen := []string{
		v.paint(console.Bold, title) + strings.Repeat(" ", max(1, v.width-console.Width(title)-len(state))) + state,
		v.paint(console.Faint, v.cut(about, v.width)),
	}
	end := min(len(v.lines), v.top+v.room())
	screen = append(screen, v.lines[v.top:end]...)
	for len(screen) < headLines+v.room() {
		screen = append(screen, "")
	}
	return append(screen, v.foot(end)...)
}

// foot returns the keys, and the note on the last one.
func (v *View) foot(end int) []string {
	rule := strings.Repeat("─", v.width)
	if hidden := len(v.lines) - end; hidden > 0 {
		more := fmt.Sprintf("── %d more lines below ", hidden)
		rule = more + strings.Repeat("─", max(0, v.width-console.Width(more)))
	}
	labels := make([]string, 0, len(guide))
	for i, g := range guide {
		labels = append(labels, fmt.Sprintf("%d %s", i+1, g.label))
	}
	var levels []string
	for _, c := range detect.Confidences() {
		level := c[:1] + " " + c
		if c == v.confidence {
			level = "[" + level + "]"
		}
		levels = append(levels, level)
	}
	color := console.Faint
	if v.failed {
		color = console.Red
	}
	return []string{
		v.paint(console.Faint, rule),
		v.cut(strings.Join(labels, "  ")+"    confidence: "+strings.Join(levels, " "), v.width),
		v.cut("u undo  s skip  ↑ ↓ space scroll  r whole request  ? labels  q quit", v.width),
		v.paint(color, v.cut(v.note, v.width)),
	}
}

// cut shortens text of unknown origin to a width.
func (v *View) cut(s string, width int) string {
	return console.Cut(sanitize.Line(s, 4*v.width), width)
}

// wrap breaks text into lines of at most width columns, at spaces where possible. Indentation
// stays.
func wrap(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\t", "    "), "\n") {
		lines = append(lines, wrapLine(strings.TrimRight(line, " "), width)...)
	}
	return lines
}

func wrapLine(line string, width int) []string {
	var lines []string
	start, space, used := 0, -1, 0 // bytes, and columns since start
	for i, r := range line {
		columns := 1
		if r >= 0x300 { // below, all characters are one column wide
			columns = console.Width(string(r))
		}
		if used+columns > width {
			if space > start { // break at the last space
				lines = append(lines, strings.TrimRight(line[start:space], " "))
				start = space + 1
			} else {
				lines = append(lines, line[start:i])
				start = i
			}
			space, used = -1, console.Width(line[start:i])
		}
		if r == ' ' && strings.TrimLeft(line[start:i], " ") != "" {
			space = i
		}
		used += columns
	}
	return append(lines, line[start:])
}

// Keys splits the bytes that a terminal sent into keys: characters, and names such as "page-down".
func Keys(input []byte) []string {
	var keys []string
	for s := string(input); s != ""; {
		key, size := nextKey(s)
		keys = append(keys, key)
		s = s[size:]
	}
	return keys
}

// sequences are what terminals send for keys without a character.
var sequences = []struct{ bytes, key string }{
	{"\x1b[A", keyUp},
	{"\x1bOA", keyUp},
	{"\x1b[B", keyDown},
	{"\x1bOB", keyDown},
	{"\x1b[5~", keyPageUp},
	{"\x1b[6~", keyPageDown},
	{"\x1b[H", keyHome},
	{"\x1b[1~", keyHome},
	{"\x1b[F", keyEnd},
	{"\x1b[4~", keyEnd},
}

// nextKey returns the first key and its size. An unknown escape sequence is one key.
func nextKey(s string) (key string, size int) {
	for _, q := range sequences {
		if strings.HasPrefix(s, q.bytes) {
			return q.key, len(q.bytes)
		}
	}
	if !strings.HasPrefix(s, "\x1b") {
		r, size := utf8.DecodeRuneInString(s)
		return string(r), size
	}
	end := strings.IndexFunc(s[1:], func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r == '~' })
	if end < 0 {
		return "escape", len(s)
	}
	return "escape", cmp.Or(end+2, 1)
}
