package session

import "sync"

// The options of the two questions whose answers determine what follows.
var (
	registers = sync.OnceValue(func() options {
		return options{
			count: 2, nameAt: listsAt(informal, formal), pronouns: []string{"tu", "vous"}, letters: true,
			keys: []string{"informal", "casual", "formal", "tutoiement", "vouvoiement", "tutoyer", "vouvoyer", "tutoie", "vouvoie"},
		}
	})
	media = sync.OnceValue(func() options {
		return options{
			count: 2, nameAt: listsAt(series, films), letters: true,
			keys: []string{"series", "serie", "shows", "films", "movies", "movie", "cinema"},
		}
	})
)

// listsAt returns a function that finds the names of options in lists of the lexicon, one for each option.
func listsAt(lists ...list) func(r *reading, i int) (option, n int) {
	return func(r *reading, i int) (option, n int) {
		for k, l := range lists {
			if m := l.at(r.words[i:]); m > n {
				option, n = k, m
			}
		}
		return option, n
	}
}

// parseRegister reads how the candidate wants to be addressed, from the letter of the option
// ("A" is informal, "B" formal) or from words of either language. It returns false if the
// answer makes no clear choice.
func parseRegister(text string) (Register, bool) {
	i, ok := registers().choose(text)
	if !ok {
		i, ok = registers().hinted(text, informalHints, formalHints)
	}
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
		i, ok = media().hinted(text, seriesHints, filmHints)
	}
	if !ok {
		return "", false
	}
	return []Medium{Series, Film}[i], true
}

// hinted chooses an option by words that only suggest it ("episodes"), in an answer that names none.
func (o options) hinted(text string, hints ...list) (int, bool) {
	text = text[:min(len(text), maxChoiceRead)]
	ws := o.words(text)
	if len(o.read(text, ws).found) > 0 {
		return 0, false
	}
	o.nameAt, o.pronouns, o.letters = listsAt(hints...), nil, false
	r := o.read(text, ws)
	if len(r.found) == 0 {
		return 0, false
	}
	return r.weigh()
}
