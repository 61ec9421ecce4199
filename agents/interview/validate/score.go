package validate

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// rating is a form in which a text rates the candidate.
type rating struct {
	// needs are lists of words in lower case; a text that matches contains a word of each. Looking for
	// them first saves most searches.
	needs   [][]string
	pattern func() *regexp.Regexp
	warning bool // the words may also report a fact of the interview
	// lines is true if a match is within one line.
	lines bool
}

// ratingOf returns a form that is within one line. needs are separated by "&", and their words by "|".
func ratingOf(needs, pattern string, warning bool) rating {
	r := rating{pattern: lazyregexp.New(`(?i)` + pattern), warning: warning, lines: true}
	for list := range strings.SplitSeq(needs, "&") {
		r.needs = append(r.needs, strings.Split(list, "|"))
	}
	return r
}

// acrossLines returns a form that may continue on the next line.
func acrossLines(needs, pattern string, warning bool) rating {
	r := ratingOf(needs, pattern, warning)
	r.lines = false
	return r
}

// mayMatch reports whether a text in lower case contains a word of each list.
func (r rating) mayMatch(lower string) bool {
	return !slices.ContainsFunc(r.needs, func(words []string) bool { return !containsAny(lower, words) })
}

// find returns the range of the first match in a text.
func (r rating) find(t ratedText) []int {
	if !r.mayMatch(t.lower) {
		return nil
	}
	if !r.lines {
		return r.pattern().FindStringIndex(t.text)
	}
	for _, line := range t.lines {
		if !r.mayMatch(line.lower) {
			continue
		}
		if at := r.pattern().FindStringIndex(line.text); at != nil {
			return []int{line.start + at[0], line.start + at[1]}
		}
	}
	return nil
}

// ratedText is a text or a line with its lower case, in which white space is a space.
type ratedText struct {
	text, lower string
	start       int
	lines       []ratedText
}

var spaces = strings.NewReplacer("\t", " ", "\n", " ", "\f", " ", "\r", " ")

func readRated(text string) ratedText {
	t := ratedText{text: text, lower: spaces.Replace(strings.ToLower(text))}
	start := 0
	for line := range strings.Lines(text) {
		bare := strings.TrimSuffix(line, "\n")
		t.lines = append(t.lines, ratedText{text: bare, lower: spaces.Replace(strings.ToLower(bare)), start: start})
		start += len(line)
	}
	return t
}

// each returns every beginning with every ending, separated by "|".
func each(beginnings, endings string) string {
	var all []string
	for beginning := range strings.SplitSeq(beginnings, "|") {
		for ending := range strings.SplitSeq(endings, "|") {
			all = append(all, beginning+ending)
		}
	}
	return strings.Join(all, "|")
}

// Parts of the patterns: a share in percent, a fraction, the vacancy or the fit with it, and the others
// who applied.
//
//nolint:misspell // the words are French and English
const (
	percentage = `\d+(?:[.,]\d+)?[ \x{a0}\x{202f}]?(?:%|pour cent|percent|per cent)`
	fraction   = `(?:trois quarts|deux tiers|(?:neuf|huit|sept|neufs) dixièmes|three quarters|two thirds|nine tenths|` +
		`(?:[a-zé]+|\d+) (?:critères |cases |points )?sur (?:cinq|six|sept|huit|neuf|dix|douze|\d+)|` +
		`(?:\w+) (?:out )?of (?:the )?(?:five|six|seven|eight|nine|ten|twelve|\d+))`
	fit = `(?:match|compatib|adéqua|correspond|align|\bfit\b|\bcas(?:e|es)\b|critère|criteria|\bbox(?:es)?\b|requirement|` +
		`exigence|\bprofil|l['’]offre|le poste|ce poste|\bthis (?:role|job)|\bthe (?:role|job))`
	others = `(?:candidat(?:e?s|ures?)|candidates|applicants|profils (?:analysés|reçus|étudiés|examinés)|` +
		`(?:autres|personnes) (?:que nous|interrogées|reçues|candidats|profils)|people (?:considered|we|interviewed)|` +
		`other (?:profiles|people|interviewees))`
	place = `(?:meilleur|mieux|dépass|devanc|surpass|devant|stronger|better|best|ahead of|rank|class[ée]|premi[eè]re?|` +
		`deuxième|seconde?|troisième|position|\btop\b|third|second|first|parmi|sur dix|than (?:the|most)|percent|%)`
)

// The words that these parts need, in lower case.
//
//nolint:misspell // the words are French and English
var (
	digits       = "0|1|2|3|4|5|6|7|8|9"
	needPercent  = "%|percent|per cent|pour cent&" + digits
	needFraction = "trois quarts|deux tiers|dixièmes|three quarters|two thirds|nine tenths|" +
		each(" sur ", "cinq|six|sept|huit|neuf|dix|douze|"+digits) + "|" +
		each(" of | of the ", "five|six|seven|eight|nine|ten|twelve|"+digits)
	needFit = "match|compatib|adéqua|correspond|align|fit|cas|critère|criteria|box|requirement|exigence|profil|l'offre|l’offre|" +
		"le poste|ce poste|this role|this job|the role|the job"
	needOthers = "candidats|candidates|candidatur|applicants|" + each("profils ", "analysés|reçus|étudiés|examinés") + "|" +
		each("autres |personnes ", "que nous|interrogées|reçues|candidats|profils") + "|" +
		each("people ", "considered|we|interviewed") + "|" + each("other ", "profiles|people|interviewees")
	needPlace = "meilleur|mieux|dépass|devanc|surpass|devant|stronger|better|best|ahead of|rank|class|premi|deuxième|second|" +
		"troisième|position|top|third|first|parmi|sur dix|than |percent|%"
)

// within is the rest of a sentence between two parts.
const within = `[^.!?\n]{0,60}?`

// ratings are the forms, the surest first.
var ratings = []rating{
	acrossLines(each("/|/ |sur|sur |out of|out of ", "5|1|2")+"&"+digits,
		`\b\d{1,3}(?:[.,]\d{1,2})?\s?(?:/|sur|out of)\s?(?:5|10|20|100)\b`, false),
	acrossLines("★|☆|⭐|🟢|⚪|🟡|🟠|🔴|●|○|■|□", `(?:[★☆⭐🟢⚪🟡🟠🔴●○■□]\x{fe0f}?\s?){3,}`, false),
	ratingOf("toiles|stars&"+digits, `\b\d(?:[.,]\d)?[ \x{a0}]?(?:étoiles|stars)\b`, false),
	ratingOf("score|rating|note|notation|indice|index|taux&"+digits,
		`\b(?:score|scored|rating|note (?:finale|globale|de|d['’])|notation|indice|index|`+
			`taux de (?:correspondance|compatibilité|adéquation|réussite|match))\b`+within+`\d`, false),
	ratingOf("ercentile|uartile|uintile|écile|ecile", `\b(?:percentile|quartile|quintile|décile|decile)`, false),
	ratingOf(each("top ", "five|ten|twenty|cinq|dix|"+digits), `\btop (?:\d+|five|ten|twenty|cinq|dix)\b`, false),
	ratingOf(needPercent+"&"+needFit, percentage+within+fit, false),
	ratingOf(needPercent+"&"+needFit, fit+within+percentage, false),
	ratingOf(needFraction+"&"+needFit, fraction+within+fit, true),
	ratingOf(needFraction+"&"+needFit, fit+within+fraction, true),
	ratingOf(needOthers+"&"+needPlace, others+within+place, true),
	ratingOf(needOthers+"&"+needPlace, place+within+others, true),
	ratingOf("la moyenne|average", `(?:en[- ]dessous|au[- ]dessus|dans) (?:de )?la moyenne|\b(?:below|above) (?:the )?average`, true),
	ratingOf("candidat|applicant|match|fit&stronger |better |best |weaker |ideal |perfect |idéal",
		`\b(?:stronger|better|best|weaker|ideal|perfect) (?:candidate|applicant|match|fit)\b|`+
			`candidature idéale|candidat(?:e)? idéale?`, true),
	ratingOf("than most|than the average|most people",
		`(?:better|calmer|stronger|faster|more [a-z]+) than (?:most|the average)|most people (?:don['’]t|do not|can['’]t)`, true),
	ratingOf(each("catégorie |grade |niveau |level |classe ", "a|b|c|d|e|1|2|3|4|5")+"|potentiel |potential",
		`\b(?:catégorie|grade|niveau|level|classe) (?:[A-E][+-]?|[1-5])(?:[\s.,;]|$)|`+
			`potentiel (?:très |assez |plutôt )?(?:élevé|fort|faible|moyen)|\b(?:high|low|strong) potential\b`, true),
	acrossLines(each(digits, ",|;|."), `(?:\p{L}{4,} (?:\d{2,3})[,;.]\s*){2,}`, true),
	acrossLines(each(each(":|=|—|–|-", "| "), "très |assez |plutôt |very |élev|moyen|faible|fort|bon|excellent|"+
		"high|low|medium|strong|weak|average|good|"+digits),
		`(?:\p{L}{4,}\s?[:=—–-]\s?(?:très |assez |plutôt |very )?`+
			`(?:élevée?s?|moyen(?:ne)?s?|faibles?|forte?s?|bonn?e?s?|excellente?s?|`+
			`high|low|medium|strong|weak|average|good|excellent|\d{1,3})\s*[.,;\n]?\s*){2,}`, true),
}

// maxRated is the maximum length in bytes of the part of a text that is searched; a text without findings
// is shorter.
const maxRated = 16 << 10

// score adds a finding if a text about the candidate rates them: a number on a scale, a share of the
// requirements, or a rank among others. Numbers in a fact or in quotation marks do not count.
func (c *checker) score() {
	switch c.want.Purpose {
	case session.PurposeMirror, session.PurposeProfile, session.PurposeMatching:
	default:
		return
	}
	text := withoutQuotes(head(c.Text, maxRated))
	rated := readRated(text)
	for _, r := range ratings {
		if at := r.find(rated); at != nil {
			c.add(Finding{
				Rule: ruleScore, Warning: r.warning, Words: quoted(text[at[0]:at[1]]), Place: c.placeOf(at[0]),
				Message: "the text rates or ranks the candidate; describe without a grade, a percentage or a rank",
			})
			return
		}
	}
}
