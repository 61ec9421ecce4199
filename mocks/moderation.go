package mocks

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// Moderation flags texts that a client has moderated.
type Moderation struct {
	// Input matches the text.
	Input Match `yaml:"input" json:"input"`
	// Categories are those for which the text is flagged, such as "violence".
	Categories []string `yaml:"categories" json:"categories"`
}

// moderate answers a request for moderation with the first entry of the script that matches each text.
func (e *Engine) moderate(body []byte) []wire.Frame {
	return wire.OpenAIChat{}.Moderate(body, func(text string) []string {
		for i := range e.program.moderations {
			if m := &e.program.moderations[i]; m.fits(text) {
				return m.Categories
			}
		}
		return nil
	})
}

// compiledModeration is a Moderation with its compiled condition.
type compiledModeration struct {
	*Moderation
	fits func(text string) bool
}

func compileModerations(given []Moderation) ([]compiledModeration, error) {
	compiled := make([]compiledModeration, len(given))
	for i := range given {
		_, _, fits, err := given[i].Input.compile()
		if err != nil {
			return nil, fmt.Errorf("moderations[%d].input: %w", i, err)
		}
		compiled[i] = compiledModeration{&given[i], fits}
	}
	return compiled, nil
}

// moderations checks the entries for moderation.
func (v *validator) moderations(s *Script) {
	for i := range s.Moderations {
		m, at := &s.Moderations[i], fmt.Sprintf("moderations[%d]", i)
		if err := m.Input.check(); err != nil {
			v.add(at+".input", "%v", err)
		} else if kind, _, _, err := m.Input.compile(); err != nil {
			v.add(at+".input."+kind, "%v (RE2 syntax)", err)
		}
		if len(m.Categories) == 0 {
			v.add(at+".categories", "name the categories of the text, such as [violence]")
		}
		for j, category := range m.Categories {
			v.word(fmt.Sprintf("%s.categories[%d]", at, j), "a category", category, wire.ModerationCategories())
		}
	}
}
