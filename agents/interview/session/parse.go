package session

import (
	"sync"
)

// The options of the two questions whose answer decides what follows.
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

// ParseRegister reads how the candidate wants to be addressed: by the letter of
// the option ("A" is informal, "B" formal), or in words of either language. It
// reports false where the answer leaves it open.
func ParseRegister(text string) (Register, bool) {
	i, ok := registers().choose(text)
	if !ok {
		return "", false
	}
	return []Register{Informal, Formal}[i], true
}

// ParseMedium reads whether the candidate prefers series or films: by the letter
// of the option ("A" is series, "B" films), or in words of either language. It
// reports false where the answer leaves it open.
func ParseMedium(text string) (Medium, bool) {
	i, ok := media().choose(text)
	if !ok {
		return "", false
	}
	return []Medium{Series, Film}[i], true
}
