package textfold_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

func TestQuestionsAreCountedByTheirMarks(t *testing.T) {
	for text, want := range map[string]int{
		"":                                 0,
		"I see.":                           0,
		"Why?":                             1,
		"Why? And when?":                   2,
		"Really?! Yes ?":                   2,
		"Vraiment ? ?":                     1,
		"何？":                               1,
		`What do you say to "why?"`:        0,
		"Que dis-tu à « À quoi bon ? » ?":  1,
		"It begins \"so and never ends. ?": 1,
		"One?\nTwo?\r\nThree?":             3,
	} {
		if got := textfold.Questions(text); got != want {
			t.Errorf("%q has %d questions, and %d are counted", text, want, got)
		}
	}
}
