package session

import (
	"sync"
)

// The options of the two questions whose answers determine what follows.
var (
	registers = sync.OnceValue(func() options {
		return options{
			names: []phrases{informal.phrases(), formal.phrases()}, pronouns: []string{"tu", "vous"}, letters: true,
		}
	})
	media = sync.OnceValue(func() options {
		return options{names: []phrases{series.phrases(), films.phrases()}, letters: true}
	})
)

// parseRegister reads how the candidate wants to be addressed, from the letter of the option
// ("A" is informal, "B" formal) or from words of either language. It returns false if the
// answer makes no clear choice.
func parseRegister(text string) (Register, bool) {
	i, ok := registers().choose(text)
	if !ok {
		return "", false
	}
	return []Register{Informal, Formal}[i], true
}

// parseMedium reads whether the candidate prefers series or films, from the letter of the
// option ("A" is series, "B" films) or from words of either language. It returns false if the
// answer makes no clear choice.
func parseMedium(text string) (Medium, bool) {
	i, ok := media().choose(text)
	if !ok {
		return "", false
	}
	return []Medium{Series, Film}[i], true
}
