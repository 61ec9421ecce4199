package session

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

const (
	maxKnown      = 12 // words of the longest title of the catalog
	shortestKnown = 3  // letters of a title of one word in small letters
	maxRejection  = 40 // bytes beside a title that may reject it
)

// The words before and after a title of one word that is not capitalized.
var (
	titleCues = textfold.WordSet("et and ou or puis then plus film films movie serie series show anime manga genre comme like " +
		"regarde regardais " +
		"watching watch fini finished vu revu seen surtout mostly plutot dirais adore adorais love loved aime kiffe of is was " +
		"reste c est sinon also aussi " +
		"maintenant now cest prefere mate binge")
	commonWords = textfold.WordSet("her you lol old red big elle life love girl room here soul wild ghost from fall monster go " +
		"drive collision alone girls lion heroes " +
		"hero castle games game empire contact speed heat taxi friday pose prey sing silence memories flight doubt you traffic " +
		"rush room visitor " +
		"the les des une aux")
	titleEnds = textfold.WordSet("et and ou or puis then saison season saisons seasons parce because car since quand when c " +
		"cest est is was aussi also too " +
		"which qui m ma tres very super trop mais but je j i de by avec with en la the film serie series obviously surtout lol mdr " +
		"tbh sinon oui sans person pour for")
)

// What rejects the title after it or before it.
var (
	rejectsNext = compiled(`(?i)(?:never (?:got into|liked|watched)|did ?n.?t (?:really )?(?:like|enjoy)|` +
		`do(?:es)? ?n.?t (?:really )?like|\bhated?|` +
		`aim(?:e|é|ais) pas|pas (?:trop |vraiment )?(?:aimé|accroché à|fan de)|d[ée]teste|supporte pas|sauf|except|not)\s+(?:the |` +
		`l[eas]{1,2} |l['’])?$`)
	rejectsLast = compiled(`(?i)^[\s,]*(?:j['’ ]?(?:ai|aime) )?(?:jamais |pas (?:trop |vraiment )?)(?:accroch|aim|pu\b)|` +
		`^[\s,]*(?:i )?never (?:got into|liked)`)
)

// mark puts quotes around the known titles of an answer that have none, so that a comma or "and" does not split a title and
// the words around it do not become part of it. found is the number of titles. It omits titles that the answer rejects.
func (c *catalog) mark(text string) (marked string, found int) {
	tokens := titleTokens(text)
	quoted := quotes().FindAllStringIndex(text, -1)
	var b strings.Builder
	at := 0
	for i := 0; i < len(tokens); i++ {
		n, skip := c.longest(tokens, i, c.isCued(tokens, i, at))
		inQuotes := func(q []int) bool { return q[0] < tokens[i].start && tokens[i].start < q[1] }
		if n == 0 || slices.ContainsFunc(quoted, inQuotes) {
			continue
		}
		if i+n < len(tokens) && isNumbered(tokens[i+n]) {
			continue // the numbers of volumes and years belong to the title
		}
		first, last := tokens[i+skip], tokens[i+n-1]
		if isAside(text, first.start, last.end) || isRejected(text, first.start, last.end) {
			i += n - 1
			continue
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
	return tokens[i].capital && !before.capital || before.end == last || titleCues[before.folded] || separatesTitles(tokens[i].gap)
}

func separatesTitles(gap string) bool {
	return strings.ContainsAny(gap, ",;.!?:/+&\n|…(") || strings.Contains(gap, " -")
}

// longest returns the number of words of the longest known title at a place, and that of the articles before it that are not
// part of it. A title of one word needs an article, a capital letter within a sentence, or words that announce and end it.
func (c *catalog) longest(tokens []titleToken, at int, cued bool) (n, articles int) {
	key, skip := "", 0
	rest := tokens[at:]
	if len(rest) > 1 && titleArticles[rest[0].folded] && strings.Trim(rest[1].gap, " '’") == "" {
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
		if !smallWords[t.folded] {
			significant++
		}
		works := c.works[key]
		if word == "" || works == nil {
			continue
		}
		long := significant > 1 || capital && (i > 0 || t.capitals > 1)
		if long || cued && i == skip && len(key) >= shortestKnown && (capital || !commonWords[word]) && c.endsAt(rest, i+1) {
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
	if separatesTitles(next.gap) || titleEnds[next.folded] || isSeason(next.folded) || isVolume(next.folded) {
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
	talk = textfold.WordSet("je j jai tu on c cest ca i it they we oui ouais bref voila question sinon reste rest lol mdr haha " +
		"tbh basically " +
		"episode mere mec pere kids classique classics trucs stuff things rien tout tous toute normal sorry usual best didnt much " +
		"more easy oh hmm bof " +
		"westerns disney nerd taste person toutes cried know what")
	noTitle = textfold.WordSet("regarde regarder watch watching anything whatever mind documentaries docs sports " +
		"documentaires " + //nolint:misspell // French
		"foot shows trucs stuff " +
		"tbh depend depends humeur mood copine copain kids cooking thrillers polars sitcoms trop idee idea nothing weirder tele " +
		"franchement honestly " +
		"mostly surtout general horror movies comedies peu question")
	refuses = compiled(`(?i)^\s*(?:(?:i |sorry,? )*(?:have )?no (?:idea|favou?rites?|preferences?|opinion)\b|rien ne|` +
		`pas d['’](?:avis|id[ée]e|opinion)|` +
		`je (?:ne )?(?:pr[ée]f[èe]re ne|veux pas|connais pas|vois pas)|aucune? |d[ée]sol[ée]e?\s*$|sorry\s*$|i(?: woul|['’]|` +
		` )d rather not|pass(?:e|er)?\s*$|skip\s*$)`)
	seriesOf = compiled(`(?i:\b(?:films?|movies|séries|series|shows) (?:de|du|d['’]|of|by|from)) ?\p{Lu}`)
)

// isTalk reports whether a part of an answer has a word in small letters that belongs to no title.
func isTalk(part string, words map[string]bool) bool {
	return slices.ContainsFunc(titleTokens(part), func(t titleToken) bool { return !t.capital && words[t.folded] })
}

// isUntitled reports whether a part of an answer without known titles names none.
func isUntitled(part string) bool {
	return !quotes().MatchString(part) && (isTalk(part, noTitle) || refuses().MatchString(part)) && !seriesOf().MatchString(part)
}

// mayName reports whether a part beside known titles names another work. small is true if the answer has no capital letters.
func (c *catalog) mayName(part string, small bool) bool {
	if seriesOf().MatchString(part) {
		return true
	}
	name := titleOf(part)
	return !isTalk(name, talk) && !isTalk(name, noTitle) && (maybeTitle(name, small) || len(c.of(name)) > 0)
}
