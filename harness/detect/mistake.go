package detect

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Mistake is an item that the detector judged wrongly, with the information a person needs to learn
// from it. Its texts are shortened.
type Mistake struct {
	ID         string `json:"id"`
	Label      string `json:"label"`
	Confidence string `json:"confidence"`
	Lang       string `json:"lang,omitempty"`
	Part       string `json:"part,omitempty"`
	Repo       string `json:"repo,omitempty"`
	// Note is the labeller's note.
	Note string `json:"note,omitempty"`
	// Class and Score are the detector's prediction.
	Class string   `json:"class,omitempty"`
	Score *float64 `json:"score,omitempty"`
	// Excerpt is the text around the detector's first evidence, else around the first labelled
	// step, else the end of the message, where most steps are.
	Excerpt string `json:"excerpt"`
	// Evidence is the text of the detector's spans; Categories, Steps and Reasons are the
	// detector's, too.
	Evidence   []string `json:"evidence,omitempty"`
	Categories []string `json:"categories,omitempty"`
	Steps      []string `json:"steps,omitempty"`
	Reasons    []string `json:"reasons,omitempty"`
	// Missed are the labelled steps of a false negative.
	Missed []string `json:"missed,omitempty"`
}

// Limits on the texts of a mistake or a failure: bytes of a text and texts of a list.
const (
	maxName   = 200
	maxText   = 500
	maxList   = 10
	before    = 160 // of the excerpt, before the evidence
	maxFailed = 20
)

func (s *Scorer) addMistake(item *Item, p *Prediction, actual bool) {
	examples := &s.mistakes[0]
	if actual {
		examples = &s.mistakes[1]
	}
	m := Mistake{
		ID: clip(item.ID, maxName), Label: item.Label, Confidence: clip(confidence(item), maxName), Score: valid(p.Score),
	}
	if !examples.wants(m) {
		return
	}
	m.Lang, m.Part, m.Repo = clip(item.Lang, maxName), clip(item.Part, maxName), clip(item.Repo, maxName)
	m.Note, m.Class = clip(item.Note, maxText), clip(p.Class, maxName)
	m.Categories, m.Steps, m.Reasons = clipAll(p.Categories), clipAll(p.Steps), clipAll(p.Reasons)
	if actual {
		m.Missed = clipAll(item.Steps)
	}
	for _, span := range p.Spans[:min(len(p.Spans), maxList)] {
		if within(span, item.Text) {
			m.Evidence = append(m.Evidence, clip(item.Text[span[0]:span[1]], maxText))
		}
	}
	m.Excerpt = excerpt(item.Text, focus(item, p))
	examples.add(m)
}

// compareMistakes orders mistakes: confident labels first, and among them the scores farthest from
// the label. An answer without a score is in the middle.
func compareMistakes(a, b Mistake) int {
	wrong := func(m *Mistake) float64 {
		if m.Score == nil {
			return 0
		}
		return max(*m.Score-0.5, 0.5-*m.Score)
	}
	return cmp.Or(
		cmp.Compare(doubt(a.Confidence), doubt(b.Confidence)),
		cmp.Compare(wrong(&b), wrong(&a)),
		cmp.Compare(a.ID, b.ID),
	)
}

// doubt ranks confidences, the highest first.
func doubt(confidence string) int {
	ranked := []string{"high", "medium", "low"}
	if i := slices.Index(ranked, confidence); i >= 0 {
		return i
	}
	return len(ranked)
}

// focus returns the position of the excerpt in the text.
func focus(item *Item, p *Prediction) int {
	for _, span := range p.Spans {
		if within(span, item.Text) {
			return span[0]
		}
	}
	if at, _ := locate(item.Text, item.Steps[:min(len(item.Steps), maxList)]); len(at) > 0 {
		return at[0][0]
	}
	return len(item.Text)
}

func within(span [2]int, text string) bool {
	return 0 <= span[0] && span[0] < span[1] && span[1] <= len(text)
}

// excerpt returns at most maxText bytes of text, from shortly before position at, or the end of the
// text if that is near.
func excerpt(text string, at int) string {
	start := max(0, min(at-before, len(text)-maxText))
	for start > 0 && start < len(text) && !utf8.RuneStart(text[start]) {
		start++
	}
	out := clip(text[start:], maxText)
	if start > 0 {
		out = "…" + out
	}
	return out
}

// clip returns at most limit bytes of text as valid UTF-8. It copies, so that the rest of the text
// can be freed.
func clip(text string, limit int) string {
	return strings.ToValidUTF8(sanitize.Shorten(text, limit), "\uFFFD")
}

func clipAll(texts []string) []string {
	var out []string
	for _, text := range texts[:min(len(texts), maxList)] {
		out = append(out, clip(text, maxText))
	}
	return out
}

// compareFailures makes the stored failures independent of the order of items.
func compareFailures(a, b Failure) int {
	return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Error, b.Error))
}
