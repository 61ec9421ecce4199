// Package failword recognises texts that report a failure, in English and French.
package failword

import (
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// The words of a failure, and the phrases with such words that report none, in lower case. Words match at their
// beginning only, so that "fail" matches "failure".
var (
	words = lazyregexp.New(`(?:^|[^\p{L}])(?:` +
		`fail|err(?:or|no|eur)|exception|traceback|panic|fatal|crash|abort|timeout|timed[ _-]?out|time limit|deadline|` +
		`unavailable|unreachable|unsuccess|unable|cannot|can['’]t|(?:could|did|does|was|were) ?n(?:['’]|o)t|couldn|` +
		`not (?:be|available|found|work|respond|possible|complete|succe)|` +
		`no (?:answer|response|result|reply|output)|without (?:an? )?(?:answer|response|result)|` +
		`invalid|malformed|unexpected|broken|refused|denied|reject|cancel|interrupt|disconnect|closed|lost|hang|hung|down\b|` +
		`went wrong|go wrong|problem|trouble|issue|unknown|again later|retry|` +
		`échou|échec|echou|echec|défaill|impossible|indisponible|inaccessible|introuvable|délai|refus|annul|interromp|panne|` +
		`problème|incident|réessay|pas (?:pu|répondu|disponible|de réponse|abouti|fonctionn|réussi)|` +
		`aucune? (?:réponse|résultat)|sans réponse|inconnu|perdu|fermé)`)
	harmless = lazyregexp.New(`"(?:is_?)?errors?"\s*:\s*(?:null|false|""|\[\]|0)|` +
		`(?:\b0|\bno|\bwithout|\baucune|\bsans) (?:errors?|failures?|problems?|issues?|erreurs?|problèmes?)`)
)

// In reports whether a text has a word of a failure. Phrases such as "no errors" do not count.
func In(text string) bool {
	return words().MatchString(harmless().ReplaceAllString(strings.ToLower(text), " "))
}
