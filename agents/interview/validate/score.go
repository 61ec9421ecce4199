package validate

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// rating is a form in which a text rates the candidate.
type rating struct {
	// needs lists words in lower case, one of which the text contains; it saves most searches.
	needs   []string
	pattern *regexp.Regexp
	warning bool // the words may also report a fact of the interview
}

func ratingOf(needs, pattern string, warning bool) rating {
	return rating{strings.Split(needs, "|"), regexp.MustCompile(`(?i)` + pattern), warning}
}

// mayMatch reports whether a text in lower case contains one of the needed words.
func (r rating) mayMatch(lower string) bool {
	return slices.ContainsFunc(r.needs, func(word string) bool { return strings.Contains(lower, word) })
}

// Parts of the patterns: a share in percent, a fraction, the vacancy or the fit with it, and the others
// who applied.
const (
	percentage = `\d+(?:[.,]\d+)?[ \x{a0}\x{202f}]?(?:%|pour cent|percent|per cent)`
	fraction   = `(?:trois quarts|deux tiers|(?:neuf|huit|sept|neufs) dixièmes|three quarters|two thirds|nine tenths|(?:[a-zé]+|\d+) (?:critères |cases |points )?sur (?:cinq|six|sept|huit|neuf|dix|douze|\d+)|(?:\w+) (?:out )?of (?:the )?(?:five|six|seven|eight|nine|ten|twelve|\d+))`
	fit        = `(?:match|compatib|adéqua|correspond|align|\bfit\b|\bcas(?:e|es)\b|critère|criteria|\bbox(?:es)?\b|requirement|exigence|\bprofil|l['’]offre|le poste|ce poste|\bthis (?:role|job)|\bthe (?:role|job))`
	others     = `(?:candidat(?:e?s|ures?)|candidates|applicants|profils (?:analysés|reçus|étudiés|examinés)|(?:autres|personnes) (?:que nous|interrogées|reçues|candidats|profils)|people (?:considered|we|interviewed)|other (?:profiles|people|interviewees))`
	place      = `(?:meilleur|mieux|dépass|devanc|surpass|devant|stronger|better|best|ahead of|rank|class[ée]|premi[eè]re?|deuxième|seconde?|troisième|position|\btop\b|third|second|first|parmi|sur dix|than (?:the|most)|percent|%)`
)

// within is the rest of a sentence between two parts.
const within = `[^.!?\n]{0,60}?`

// ratings are the forms, the surest first.
var ratings = []rating{
	ratingOf("/|sur|out of", `\b\d{1,3}(?:[.,]\d{1,2})?\s?(?:/|sur|out of)\s?(?:5|10|20|100)\b`, false),
	ratingOf("★|☆|⭐|🟢|⚪|🟡|🟠|🔴|●|○|■|□", `(?:[★☆⭐🟢⚪🟡🟠🔴●○■□]\x{fe0f}?\s?){3,}`, false),
	ratingOf("toiles|stars", `\b\d(?:[.,]\d)?[ \x{a0}]?(?:étoiles|stars)\b`, false),
	ratingOf("score|rating|note|notation|indice|index|taux", `\b(?:score|scored|rating|note (?:finale|globale|de|d['’])|notation|indice|index|taux de (?:correspondance|compatibilité|adéquation|réussite|match))\b`+within+`\d`, false),
	ratingOf("ercentile|uartile|uintile|écile|ecile", `\b(?:percentile|quartile|quintile|décile|decile)`, false),
	ratingOf("top ", `\btop (?:\d+|five|ten|twenty|cinq|dix)\b`, false),
	ratingOf("%|percent|per cent|pour cent", percentage+within+fit, false),
	ratingOf("%|percent|per cent|pour cent", fit+within+percentage, false),
	ratingOf(" sur | of |quarts|tiers|dixièmes|quarters|thirds|tenths", fraction+within+fit, true),
	ratingOf(" sur | of |quarts|tiers|dixièmes|quarters|thirds|tenths", fit+within+fraction, true),
	ratingOf("candidat|applicant|profils|personnes|people|profiles|interviewees", others+within+place, true),
	ratingOf("candidat|applicant|profils|personnes|people|profiles|interviewees", place+within+others, true),
	ratingOf("moyenne|average", `(?:en[- ]dessous|au[- ]dessus|dans) (?:de )?la moyenne|\b(?:below|above) (?:the )?average`, true),
	ratingOf("candidat|applicant|match|fit", `\b(?:stronger|better|best|weaker|ideal|perfect) (?:candidate|applicant|match|fit)\b|candidature idéale|candidat(?:e)? idéale?`, true),
	ratingOf("than|most people", `(?:better|calmer|stronger|faster|more [a-z]+) than (?:most|the average)|most people (?:don['’]t|do not|can['’]t)`, true),
	ratingOf("catégorie|grade|niveau|level|classe|potentiel|potential", `\b(?:catégorie|grade|niveau|level|classe) (?:[A-E][+-]?|[1-5])(?:[\s.,;]|$)|potentiel (?:très |assez |plutôt )?(?:élevé|fort|faible|moyen)|\b(?:high|low|strong) potential\b`, true),
	ratingOf("0|1|2|3|4|5|6|7|8|9", `(?:\p{L}{4,} (?:\d{2,3})[,;.]\s*){2,}`, true),
	ratingOf(":|=|—|–|-", `(?:\p{L}{4,}\s?[:=—–-]\s?(?:très |assez |plutôt |very )?(?:élevée?s?|moyen(?:ne)?s?|faibles?|forte?s?|bonn?e?s?|excellente?s?|high|low|medium|strong|weak|average|good|excellent|\d{1,3})\s*[.,;\n]?\s*){2,}`, true),
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
	lower := strings.ToLower(text)
	for _, r := range ratings {
		if !r.mayMatch(lower) {
			continue
		}
		if at := r.pattern.FindStringIndex(text); at != nil {
			c.add(Finding{
				Rule: ruleScore, Warning: r.warning, Words: quoted(text[at[0]:at[1]]), Place: c.placeOf(at[0]),
				Message: "the text rates or ranks the candidate; describe without a grade, a percentage or a rank",
			})
			return
		}
	}
}
