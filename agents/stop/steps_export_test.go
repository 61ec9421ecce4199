package stop

import (
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// Forms are the forms of mentions, by name.
var Forms = map[string]form{"prose": prose, "heading": heading, "lead": lead, "item": item, "box": box, "offer": offer}

// Mention says where a spec puts a mention: at a phrase of the message.
type Mention struct {
	Form     string
	Phrase   string
	Category Category
	// Reference says that it is not one of work that is left.
	Reference bool
}

// StepsOf returns the steps that mentions leave in a message. A mention whose
// phrase the message does not have is left out.
func StepsOf(message string, at ...Mention) []Step {
	doc := text.NewReader(lexicon().Words).Read(message)
	var mentions []mention
	for _, m := range at {
		start := strings.Index(message, m.Phrase)
		for i, s := range doc.Sentences {
			if start >= 0 && s.Start <= start && start < s.Span.End {
				mentions = append(mentions, mention{
					category: m.Category, span: Span{start, start + len(m.Phrase)}, sentence: i, block: s.Block, form: Forms[m.Form], real: !m.Reference,
				})
				break
			}
		}
	}
	return steps(doc, mentions, nil)
}
