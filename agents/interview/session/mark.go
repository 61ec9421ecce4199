package session

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

const (
	maxMarked     = 3 * maxWorks
	maxKnown      = 12 // words of the longest title of the catalog
	shortestKnown = 3  // letters of a title of one word in small letters
	rareLetters   = 6  // letters of a title of one word that needs no words around it
	maxRejection  = 40 // bytes beside a title that may reject it
)

// The words before and after a title of one word that is not capitalized.
var (
	titleCues     = titleList("titleCues")
	commonWords   = titleList("commonWords")
	ordinaryWords = titleList("ordinaryWords")
	titleEnds     = titleList("titleEnds")
)

// What rejects the title after it or before it.
var (
	rejectsNext = lazyregexp.New(`(?i)(?:never (?:got into|liked|watched|seen|finished)|(?:could|can) ?n?['’]?o?t (?:finish|stand|get into)|` +
		`used to (?:say|love|like|watch)|(?:tell|telling|told|nag\pL*) me (?:to watch|about)|` +
		`(?:me parlent?|m['’](?:a|ont) (?:conseillé|parlé))(?: de)?|` +
		`(?:mari|femme|copain|copine|enfants|fils|fille|husband|wife|partner|kids|boyfriend|girlfriend|son|daughter) ` +
		`(?:adore|aime|regarde|préfère|love|like|watch|prefer)\pL*|jamais (?:vu|regardé|fini|aimé|accroché à)|` +
		`(?:lui|elle|eux) c['’]est(?: plutôt)?|(?:he|she|they)['’]?(?:s| is| are)? (?:more|into|prefers?)|` +
		`(?:did|do|does) ?n.?t (?:really )?(?:like|enjoy)|\bhated?|aim(?:e|é|ais) pas|` +
		`pas (?:trop |vraiment )?(?:aimé|accroché à|fan de)|d[ée]teste|supporte pas|sauf|except|not)\s+(?:the |l[eas]{1,2} |l['’])?$`)
	rejectsLast = lazyregexp.New(`(?i)^[\s,]*(?:mais|but|and|et)? ?(?:je|j['’]|i)? ?(?:(?:n['’]|ne )?(?:ai |aime |suis )?` +
		`(?:jamais|pas eu|pas fini|pas (?:trop |vraiment )?(?:accroch|aim|pu\b))|never (?:finished|watched|got|saw|liked)|keep not|` +
		`(?:couldn|haven|didn)['’]?t|found too|gave up|m['’]a (?:déçu|ennuyé))`)
)

// mark puts quotes around the known titles of an answer that have none, so that a comma or "and" does not split a title and
// the words around it do not become part of it. found is the number of titles. It omits titles that the answer rejects.
func (c *catalog) mark(text string) (marked string, found int) {
	tokens := titleTokens(text)
	quoted := quotes().FindAllStringIndex(text, -1)
	var b strings.Builder
	at := 0
	for _, q := range quoted {
		if c.exactly(strings.TrimFunc(text[q[0]:q[1]], isTitleEdge)) != nil {
			found++
		}
	}
	for i := 0; i < len(tokens) && found < maxMarked; i++ {
		n, skip := c.longest(tokens, i, c.isCued(tokens, i, at))
		if i > 0 && tokens[i].end-tokens[i].start == 1 && slices.Contains(apostrophes, tokens[i].gap) {
			continue // of "don't"
		}
		inQuotes := func(q []int) bool { return q[0] < tokens[i].start && tokens[i].start < q[1] }
		if n == 0 || slices.ContainsFunc(quoted, inQuotes) {
			continue
		}
		if i+n < len(tokens) && isNumbered(tokens[i+n]) ||
			i+n+1 < len(tokens) && joiningWords()[tokens[i+n].folded] && isNumbered(tokens[i+n+1]) {
			continue // the numbers of volumes and years belong to the title
		}
		first, last := tokens[i+skip], tokens[i+n-1]
		if isAside(text, first.start, last.end) {
			i += n - 1
			continue
		}
		if isRejected(text, first.start, last.end) {
			b.WriteString(text[at:first.start])
			at, i = last.end, i+n-1
			continue
		}
		if strings.HasSuffix(text[:first.start], "[") && strings.HasPrefix(text[last.end:], "]") {
			first.start, last.end = first.start-1, last.end+1
		}
		found++
		b.WriteString(text[at:first.start] + "«" + text[first.start:last.end] + "»")
		at, i = last.end, i+n-1
	}
	return b.String() + text[at:], found
}

func isNumbered(next titleToken) bool {
	return isVolume(next.folded) && strings.Trim(next.gap, " ,") == "" || isYear(next.folded) && strings.Trim(next.gap, " (") == ""
}

// isAside reports whether a title is alone in parentheses, or has a part in them.
func isAside(text string, start, end int) bool {
	return strings.HasSuffix(text[:start], "(") && (!strings.HasPrefix(text[end:], ",") || strings.Contains(text[start:end], ")"))
}

func isRejected(text string, start, end int) bool {
	return rejectsNext().MatchString(tail(text[:start])) || rejectsLast().MatchString(text[end:min(len(text), end+maxRejection)])
}

func tail(text string) string { return text[max(0, len(text)-maxRejection):] }

// isCued reports whether the words before a place announce a title, or the title before, which ends at a byte, does.
func (c *catalog) isCued(tokens []titleToken, i, last int) bool {
	if i == 0 {
		return true
	}
	before := tokens[i-1]
	return tokens[i].capital && !before.capital || before.end == last || titleCues()[before.folded] || separatesTitles(tokens[i].gap)
}

func separatesTitles(gap string) bool {
	return strings.ContainsAny(gap, ",;.!?:/+&\n|…(") || strings.Contains(gap, " -")
}

// longest returns the number of words of the longest known title at a place, and that of the articles before it that are not
// part of it. A title of one word needs an article, a capital letter within a sentence, or words that announce and end it.
func (c *catalog) longest(tokens []titleToken, at int, cued bool) (n, articles int) {
	key, skip := "", 0
	rest := tokens[at:]
	if len(rest) > 1 && titleArticles()[rest[0].folded] && strings.Trim(rest[1].gap, " '’") == "" {
		skip = 1
	}
	significant, capital := 0, false
	for i, t := range rest[:min(len(rest), maxKnown)] {
		if i > 0 && endsTitle(t.gap, rest[i-1]) {
			break
		}
		if i < skip {
			continue
		}
		word := canonical(t.folded, t.heard, i-skip)
		key += word
		capital = capital || t.capital
		if !smallWords()[t.folded] {
			significant++
		}
		works := c.works[key]
		if works == nil && skip > 0 && i > skip {
			works = c.works[rest[0].folded+key] // La La Land
		}
		if word == "" || works == nil {
			continue
		}
		long := (significant > 1 || i > 1) && !commonWords()[key] || capital && (i > 0 || t.capitals > 1 && !smallWords()[word])
		rare := i == skip && len(key) >= rareLetters && !ordinaryWords()[key]
		name := cued && capital && i == skip && len(key) > shortestKnown && !ordinaryWords()[key] && !commonWords()[key] && at > 0 &&
			!strings.ContainsAny(rest[0].gap, ".!?…:\n") && (i+1 == len(rest) || !rest[i+1].capital)
		if long || rare || name || cued && i == skip && len(key) >= shortestKnown && (capital || !commonWords()[word]) && c.endsAt(rest, i+1) {
			n, articles = i+1, 0
			if skip > 0 && !c.hasArticle(works, rest[0].folded) {
				articles = 1
			}
		}
	}
	return n, articles
}

// endsAt reports whether a title may end before a place.
func (c *catalog) endsAt(tokens []titleToken, i int) bool {
	if i == len(tokens) {
		return true
	}
	next := tokens[i]
	if separatesTitles(next.gap) || titleEnds()[next.folded] || isSeason(next.folded) || isVolume(next.folded) {
		return true
	}
	rest := tokens[i:min(len(tokens), i+maxKnown)]
	if n, _ := c.longest(rest, 0, false); n > 0 {
		return true
	}
	return len(tokens[i].folded) >= shortestKnown && c.works[tokens[i].folded] != nil
}

// hasArticle reports whether one of the works has a title that begins with an article.
func (c *catalog) hasArticle(works []int, article string) bool {
	return slices.ContainsFunc(works, func(work int) bool {
		return slices.ContainsFunc(c.titles[work], func(title string) bool { return textfold.Fold(title)[0] == article })
	})
}

// The words of parts without a title: talk beside known titles, and (noTitle) in any answer.
var (
	talk    = titleList("talk")
	noTitle = titleList("noTitle")
	refuses = lazyregexp.New(`(?i)^\s*(?:(?:i |sorry,? )*(?:have )?no (?:idea|favou?rites?|preferences?|opinion)\b|rien ne|` +
		`pas d['’](?:avis|id[ée]e|opinion)|` +
		`je (?:ne )?(?:pr[ée]f[èe]re ne|veux pas|connais pas|vois pas)|aucune? |d[ée]sol[ée]e?\s*$|sorry\s*$|i(?: woul|['’]|` +
		` )d rather not|pass(?:e|er)?\s*$|skip\s*$)`)
	seriesOf = lazyregexp.New(`(?i:\b(?:films?|movies|séries|series|shows) (?:de|du|d['’]|of|by|from)) ?\p{Lu}`)
)

// isSentence reports whether a part of an answer begins like a sentence, or names only people, and is not a known title.
func isSentence(part string) bool {
	known := knownTitles()
	if known.exactly(part) != nil {
		return false
	}
	names := slices.DeleteFunc(titleWords(part), func(w string) bool { return headWords()[w] || talk()[w] || w == "un" })
	one := len(names) == 1 || len(names) == 2 && names[0] != titleWords(part)[0]
	if one && people()[names[len(names)-1]] && !seriesOf().MatchString(part) {
		return true
	}
	return sentenceFr().MatchString(part) || sentenceEn().MatchString(part)
}

// The beginnings of sentences that are not titles. Titles that begin alike are known, or continue differently.
var (
	sentenceFr = lazyregexp.New(`^(?i:(?:donc|mais|et|alors|du coup|en fait|puis|bon|ben|bah|non|oui) )*` +
		`(?i:j['’ ]?(?:ai|en|y|étais|avais|irais)\b|` +
		`je (?:ne|n['’]|me|m['’]|l['’]|l[ea]s?|vais|suis|sais|regarde|vois|lis|crois|pense|peux|veux|préfère|connais|passe|joue|sors)|` +
		`on (?:m['’]|a|est|peut|ne|en|y|regard\pL+) |que j['’e]|qui (?:m['’]|est |parle)|comment (?:ça|dire)|pourquoi (?:pas|cette|vous)|` +
		`jamais (?:vu|regard)|étant |pour être|difficile|mes goûts|c['’]est |y a |ce n['’]|pas (?:très|trop|vraiment|grand|de |d['’]|` +
		`le temps)|` +
		`m(?:on|a|es) (?:copain|mari|fils|père|frère|copine|femme|mère|fille|sœur|enfants|parents) (?:adore|aime|regard|di[st]|préfère|` +
		`m['’])|` +
		`ça (?:dépend|fait|va|compte|m['’])|il (?:y a|faut|n['’])|aucun|rien (?:de|ne|du)\b)`)
	sentenceEn = lazyregexp.New(`^(?i:(?:so|but|and|well|honestly|or) )*(?:[Ii](?:['’]?(?:m|ve|d|ll))? ` +
		`(?:a|an|am|was|have|don|do|did|just|would|used|can|could|like|really|watch|rarely|never|only|usually|mostly|know|mean|guess|` +
		`think|dunno|rather|hardly|prefer|tend|grew|` +
		`work|read|play|spend|find|more|not|sorry)\pL*\b|[Tt]oo [a-z]|(?i:(?:does|do|why|what) (?:you|do|does|would|\pL+ count)|can i|` +
		`to be (?:honest|fair|truthful|frank)|not (?:a|really|much|sure)|none|my (?:kids|wife|husband|partner|mum|mom|dad)|we (?:are|re|` +
		`have)|` +
		`they (?:are|have|drag)|don['’]?t (?:laugh|judge|know|have|really)|it(?:['’]s| is| was| makes)|that['’]s|such a|fight me|` +
		`prefer not|rather not|sorry|(?:every|no)body (?:should|has|is))\b)`)
)

// isTalk reports whether a part of an answer has a word in small letters that belongs to no title.
func isTalk(part string, words map[string]bool) bool {
	return slices.ContainsFunc(titleTokens(part), func(t titleToken) bool { return !t.capital && words[t.folded] })
}

// isUntitled reports whether a part of an answer without known titles names none.
func isUntitled(part string) bool {
	return !quotes().MatchString(part) && (isTalk(part, noTitle()) || refuses().MatchString(part)) && !seriesOf().MatchString(part)
}

// mayName reports whether a part beside known titles names another work. small is true if the answer has no capital letters.
func (c *catalog) mayName(part string, small bool) bool {
	if seriesOf().MatchString(part) {
		return true
	}
	name := titleOf(part)
	return !isTalk(name, talk()) && !isTalk(name, noTitle()) && (maybeTitle(name, small) || len(c.of(name)) > 0)
}
