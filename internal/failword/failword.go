// Package failword recognises texts that report a failure, in English and French.
package failword

import (
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// The words of a failure, the fields that report one, and the phrases with such words that report none, in lower case.
// Words match at their beginning only, so that "fail" matches "failure". A doubtful word is a word of a failure: an agent
// that reports one in unusual words must not be blamed.
var (
	words = lazyregexp.New(`(?:^|[^\p{L}])(?:` +
		`fail|err(?:or|no|eur)|exception|traceback|panic|fatal|crash|abort|timeout|timed[ _-]?out|time limit|deadline|` +
		`unavailable|unreachable|unsuccess|unable|cannot|not\b|\p{L}+n['’]t\b|never\b|nothing|without (?:an? )?(?:answer|response|result)|` +
		`no (?:answer|response|result|reply|output|content|text|data|message|longer)|empty|blank|missing|incomplete|` +
		`invalid|malformed|unexpected|broke|bad (?:request|gateway|response|reply)|denied|declin|reject|cancel|` +
		`forbidden|unauthori[sz]ed|interrupt|disconnect|closed|lost|hang|hung|down\b|stopp(?:ed|ing)|g(?:ave|iv(?:e|es|en|ing)) up|` +
		`overload|too many|rate limit|exceed|busy|offline|maintenance|conflict|blocked|locked|expired|skipped|sorry|unfortunately|` +
		`went wrong|go wrong|problem|trouble|issues?\b|unknown|later\b|try again|retry|` +
		`échou|échec|echou|echec|défaill|impossible|indisponible|inaccessible|injoignable|introuvable|délai|expiré|refus|rejet|décliné|` +
		`annul|abandon|interromp|panne|hors (?:service|ligne)|désolé|malheureusement|dépass|bloqu|coupé|planté|` +
		`plante\b|plantage|problème|incident|surcharg|réessay|plus tard|` +
		`pas\b|rien\b|jamais\b|aucune?\b|sans réponse|vides?(?:$|[^\p{L}])|manqu|inconnu|perdu|fermé)`)
	fields = lazyregexp.New(
		`\b(?:success(?:ful)?|succeeded|ok|done)\\?["']?\s*[:=]\s*(?:\\?["'])?(?:false|no|0)\b|` +
			`\b(?:is_?error|failed)\\?["']?\s*[:=]\s*(?:\\?["'])?(?:true|yes|1)\b|` +
			`\b(?:http|status|code)(?:/[\d.]+)?(?:[ _-](?:status|code))*\\?["']?[ :=-]*[45]\d\d\b|` +
			`\b[45]\d\d (?:service|internal|bad|gateway|not|too|request)\b|` +
			`\b(?:exit(?:ed)?|return)(?: with)?[ _-]?(?:code|status)\\?["']?[ :=]*-?[1-9]\d*\b`)
	harmless = lazyregexp.New(`"(?:is_?error|errors?|failed|failures?|problems?|issues?|missing)"\s*:\s*(?:null|false|""|\[\]|0)|` +
		`(?:\b0|\bno|\bwithout|\baucune?|\bsans) (?:errors?|failures?|problems?|issues?|erreurs?|problèmes?)`)
)

// most is the length up to which a text is read, at its beginning and at its end, in bytes.
const most = 32 << 10

// In reports whether a text has a word or a field of a failure. Phrases such as "no errors" do not count. Of a long text it
// reads the beginning and the end.
func In(text string) bool {
	if len(text) > 2*most {
		text = text[:most] + "\n" + text[len(text)-most:]
	}
	text = strings.ToLower(text)
	return fields().MatchString(text) || words().MatchString(harmless().ReplaceAllString(text, " "))
}
