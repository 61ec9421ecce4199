package validate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// The forms of questions, in both languages. Commands that only prepare a question ("pense à …",
// "choose …") are openers.
//
//nolint:misspell // "imagin" begins French verbs
const (
	commandWords = `(?:raconte|décri(?:s|vez)|parle|donne|explique|cite|di(?:s|tes)|partage|évoque|nomme|précise|rappelle|` +
		`complète|complétez|termine|classe|indique|retrace|montre|résume|` +
		`tell|describe|talk|give|explain|name|share|walk|finish|complete|list|say|show|recall)(?:z)?`
	openerWords = `(?:pens(?:e|ez)|repens(?:e|ez)|imagin(?:e|ez)|choisi(?:s|ssez)|prend(?:s|ez)|prenez|regarde(?:z)?|` +
		`think|imagine|choose|pick|take|look|picture|remember)`
	// pronoun follows a French verb in a question, or precedes nothing else.
	inverted = `\p{L}+-(?:t-)?(?:tu|vous|il|elle|on|ils|elles|nous)\b`
	// wh opens a question.
	wh = `(?:(?:à|a|avec|de|pour|par|en|dans|chez|depuis|sur|with|from|to|in|at) |d['’])?` +
		`(?:quel(?:le)?s?\b|comment\b|combien\b|qu['’]est-ce|est-ce|à quoi|` +
		`laquelle|lequel|lesquel(?:le)?s|` +
		`que ` + inverted + `|qu['’]` + inverted + `|(?:que|qui|quand|où|ne|n['’]|en|y|te|vous|le|la|l['’])? ?(?:\p{L}+ )?` + inverted + `|` +
		`what\b|how\b|whose\b|who (?:did|do|does|was|were|is|would|got|gets)\b|which (?:one|of)\b|when (?:did|do|does|is|was)\b|` +
		`where (?:did|do|does|is|was|were)\b|` +
		`(?:did|do|does|are|is|was|were|would|could|have|has|can) (?:you|they|it|he|she|we|that|there|your)\b)`
)

var (
	// clause is what may stand before a command: the start, the end of a clause, or "and".
	command = lazyregexp.New(`(?im)(?:^|[.;:!?,…]|\bet\b|\bpuis\b|\bthen\b|\band\b|\balso\b|\baussi\b)` +
		`[\s«"*_-]*(?:please |puis |then |also |now |maintenant )?(` + commandWords + `)(?:[\s,:-]|$)`)
	opener = lazyregexp.New(`(?im)(?:^|[.;:!?,…]|\bet\b|\bpuis\b|\bthen\b|\band\b)[\s«"*_-]*(` + openerWords + `)(?:[\s,:-]|$)`)
	// question matches the start of a question without its mark.
	questionStart = lazyregexp.New(`(?im)(?:^|[.;:!?,…])\s*(?:` + wh + `|` +
		`(?:qui|où|pourquoi|why|who|when|where|which)\b|que (?:te|vous|nous) )|\b(?:à|avec|chez|pour) qui\s*,?\s*$`)
	// joined matches, at the start of a text, a second question that a conjunction adds to the first one.
	joined = lazyregexp.New(`^(?i)(?:^|[\s,;:.])(?:et|puis|mais|and|but|then|as well as|ainsi que)\s+` +
		`(?:(?:puis|then|aussi|also|enfin|surtout) )?(?:` + wh + `|(?:à|avec|pour|de|chez) qui\b|quand est-ce)`)
	// added matches a command or a word that adds a second demand.
	added = lazyregexp.New(`(?i)(?:\bpuis|\bensuite|\bthen|\balso|;)\s+(?:` + commandWords + `)\b|` +
		`\b` + commandWords + `(?:-(?:moi|nous))? (?:aussi|également|ensuite|also)\b|` +
		`\ben (?:me |nous )?(?:disant|précisant|expliquant|racontant)\b|\bpar ailleurs\b|` +
		`\b(?:ces|these) (?:deux|trois|two|three) (?:phrases|questions|sentences)\b`)
	wish = lazyregexp.New(`(?i)\b(?:i['’]d like to (?:hear|know)|j['’]aimerais (?:savoir|comprendre|entendre)|je voudrais savoir)\b`)
)

// Words without which a pattern does not match; looking for them first saves most searches.
var (
	// commandForms are the commands of commandWords without a "z" at their end.
	commandForms = setOf("raconte décris décrive parle donne explique cite dis dites partage évoque nomme précise rappelle " +
		"complète compléte termine classe indique retrace montre résume " +
		"tell describe talk give explain name share walk finish complete list say show recall")
	// addingWords are parts of a match of added, in lower case.
	addingWords = strings.Fields("puis ensuite then also ; aussi également disant précisant expliquant racontant ailleurs ces these")
	// conjunctions begin a match of joined.
	conjunctions = []string{"et", "puis", "mais", "and", "but", "then", "as well as", "ainsi que"}
)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// mayCommand reports whether a text has one of the commands as a word.
func mayCommand(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if commandForms[strings.TrimSuffix(strings.ToLower(word), "z")] {
			return true
		}
	}
	return false
}

// joinedIn returns the ranges of the matches of joined in a text, without overlaps. It tries only where a
// conjunction stands.
func joinedIn(text string) [][2]int {
	var all [][2]int
	for at := 0; at < len(text); at++ {
		from := at
		if strings.IndexByte(" \t\n\f\r,;:.", text[at]) >= 0 {
			from++
		} else if at > 0 {
			continue
		}
		if !opensWithConjunction(text[from:]) {
			continue
		}
		if found := joined().FindStringIndex(text[at:]); found != nil {
			all = append(all, [2]int{at, at + found[1]})
			at += found[1] - 1
		}
	}
	return all
}

// opensWithConjunction reports whether a text begins with a conjunction and white space.
func opensWithConjunction(text string) bool {
	return slices.ContainsFunc(conjunctions, func(word string) bool {
		n := len(word)
		return len(text) > n && strings.IndexByte(" \t\n\f\r", text[n]) >= 0 && strings.EqualFold(text[:n], word)
	})
}

// maxAsked is the maximum length in bytes of the part of a question that is searched; a question of 150
// words is shorter.
const maxAsked = 4 << 10

// head returns the beginning of a text.
func head(text string, length int) string { return text[:min(len(text), length)] }

// asks reports whether a text asks for an answer: with a question mark, options, a command at the start
// of a clause, the form of a question, or a sentence to complete.
func asks(text string) bool {
	if textfold.Questions(text) > 0 {
		return true
	}
	for line := range strings.Lines(text) {
		if _, ok := readOption(line); ok {
			return true
		}
	}
	text = withoutQuotes(head(text, maxAsked))
	end := strings.TrimRight(text, " \t\r\n\u00a0\u202f»\"”)")
	return mayCommand(text) && command().MatchString(text) || opener().MatchString(text) || wish().MatchString(text) ||
		strings.HasSuffix(end, "…") || strings.HasSuffix(end, "...") ||
		questionStart().MatchString(text)
}

// secondQuestion returns the words that begin a second question, in a text with one question mark at
// most: "…, et comment …", "Raconte …, puis explique …". It returns "" if there is none.
func secondQuestion(text string) string {
	text = withoutQuotes(head(text, maxAsked))
	if containsAny(strings.ToLower(text), addingWords) {
		if at := added().FindStringIndex(text); at != nil {
			words := text[at[0]:at[1]]
			if at[0] > 0 || strings.Contains(words, "ces ") || strings.Contains(words, "these ") {
				return words
			}
		}
	}
	var commands [][]int
	if mayCommand(text) {
		commands = command().FindAllStringSubmatchIndex(text, 3)
	}
	if len(commands) > 1 {
		return text[commands[1][2]:commands[1][3]]
	}
	if len(commands) == 1 {
		from := commands[0][3]
		if end := strings.IndexAny(text[from:], ".!?…"); end >= 0 && strings.ContainsAny(text[from+end+1:], "?") {
			return strings.TrimSpace(text[from+end+1:])
		}
	}
	for _, at := range joinedIn(text) {
		sentence := text[:at[0]+1]
		if start := strings.LastIndexAny(strings.TrimRight(sentence, " ,;:"), ".!?…\n"); start >= 0 {
			sentence = sentence[start+1:]
		}
		if questionStart().MatchString(sentence) || wish().MatchString(sentence) {
			return text[at[0]:at[1]]
		}
	}
	return ""
}

// oneQuestion adds a finding if a question is more than one.
func (c *checker) oneQuestion(q question) {
	stem := c.cut(q.stem)
	f := Finding{Rule: ruleQuestionSeveral, Section: q.name, Count: textfold.Questions(stem), Limit: 1}
	if f.Count <= 1 {
		words := secondQuestion(stem)
		if words == "" {
			return
		}
		f.Count, f.Warning, f.Words, f.Place = 2, true, quoted(words), q.name
	}
	f.Message = fmt.Sprintf("%s asks %d questions; exactly one may be asked at a time", q.name, f.Count)
	c.add(f)
}
