package react

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// lexicon has, for each trigger, phrases that speak of it, in English and French,
// folded: small letters without accents, apostrophes as spaces. The triggers stand in the order in which they are
// looked for: what is worse to overlook comes first.
var lexicon = []struct {
	trigger Trigger
	phrases string
}{
	{Security, "security|securite|vulnerab*|exploit*|secret|secrets|credential*|password*|mot de passe|mots de passe|leak*|fuite|fuites|" +
		"injection|malicious|malveillan*|breach*|faille|failles|attack*|attaque*|private key|cle privee|cles privees|personal data|donnees personnelles|" +
		"token exposed|api key|cle d api|compromis|compromised|compromise|compromission"},
	{Conflict, "confli*|contradict*|contredi*|incompatib*|cannot both|can t both|inconciliab*|mutually exclusive|" +
		"violates the constraint*|viole la contrainte|violer la contrainte|enfreint la contrainte|breaks the constraint*|against the constraint*|contraire a la contrainte|contraire aux contraintes"},
	{Decision, "business decision*|business choice*|decision metier|decision business|choix metier|strateg*|product owner|upper management|la direction|" +
		"stakeholder*|budget decision|pricing|tarif*|roadmap|feuille de route|priorit*|trade off|tradeoff|arbitrage|arbitrer|approval|approve|approbation|valider par|sign off|" +
		"legal|juridique|go to market|someone must decide|quelqu un doit decider|who decides|qui decide"},
	{Missing, "missing|manque|manquant*|manquent|lacks|lacking|not provided|not given|non fourni*|pas fourni*|n a pas ete fourni*|absent*|" +
		"no access|pas d acces|pas acces|need to know|besoin de savoir|besoin de connaitre|not available|unavailable|indisponible*|not found|introuvable*|" +
		"unknown|inconnu*|without the|do not have|don t have|je n ai pas|nous n avons pas|information manquante"},
	{Ambiguity, "ambigu*|unclear|not sure|unsure|pas sur|pas sure|not clear|pas clair|pas claire|peu clair|vague|several meanings|plusieurs sens|two ways|deux facons|plusieurs facons|several ways|" +
		"can be read|peut se lire|could mean|may mean|peut signifier|pourrait signifier|interpret*|which of|lequel|laquelle|lesquel*|pas lequel|pas laquelle|pas lesquel*|which one|not which|several possible|plusieurs possib*|equivoque"},
}

// patterns is the lexicon with its phrases as words.
var patterns = func() (all []pattern) {
	for _, l := range lexicon {
		for p := range strings.SplitSeq(l.phrases, "|") {
			all = append(all, pattern{l.trigger, strings.Fields(p)})
		}
	}
	return all
}()

// pattern is a phrase; a word that ends in * stands for all that begin so.
type pattern struct {
	trigger Trigger
	words   []string
}

// maxReason is how much of a reason is read, in bytes.
const maxReason = 4_000

// triggerOf sorts a reason to escalate, in English or French, into one of the five
// triggers; empty if it speaks of none.
func triggerOf(reason string) Trigger {
	if len(reason) > maxReason {
		reason = reason[:maxReason]
	}
	said := textfold.Fold(reason)
	for _, p := range patterns {
		if p.in(said) {
			return p.trigger
		}
	}
	return ""
}

func (p pattern) in(said []string) bool {
	for i := range said {
		if p.at(said[i:]) && !denied(said[:i]) {
			return true
		}
	}
	return false
}

// What denies the phrase that comes next ("no secret", "aucune faille"), and what may
// stand between the two ("no known vulnerability", "pas de faille").
var (
	denials = []string{"no", "not", "nor", "without", "never", "pas", "aucun", "aucune", "sans", "ni", "jamais"}
	between = []string{"a", "an", "any", "known", "new", "real", "de", "d", "un", "une"}
)

// denied reports whether words deny what comes after them.
func denied(before []string) bool {
	n := len(before)
	if n > 1 && slices.Contains(between, before[n-1]) {
		n--
	}
	return n > 0 && slices.Contains(denials, before[n-1])
}

func (p pattern) at(said []string) bool {
	if len(said) < len(p.words) {
		return false
	}
	for i, w := range p.words {
		stem, open := strings.CutSuffix(w, "*")
		if open && strings.HasPrefix(said[i], stem) || said[i] == w {
			continue
		}
		return false
	}
	return true
}
