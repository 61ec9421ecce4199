package stop

import (
	"slices"
	"strings"
	"unicode"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// maxAct is how many bytes of a step are searched for acts that cannot be undone.
const maxAct = 4000

// Irreversible reports whether a step, as text, is an act that cannot be undone or
// that reaches others: deleting data, rewriting shared history, deploying to
// production, publishing, paying, revoking or sending credentials, running a program
// straight from the network. It reads commands, and English and French words; work on
// such features ("add a delete button", "document the release") is not irreversible.
//
// It errs towards true: a step that is left to the user costs a question, one that is
// ordered may cost the data.
func Irreversible(step string) bool {
	step = strings.ToValidUTF8(step[:min(len(step), maxAct)], "")
	if commands().MatchString(strings.ToLower(step)) {
		return true
	}
	all := clauses(step)
	for i, c := range all {
		if c = c.verbFirst(); len(c) == 1 && i+1 < len(all) {
			c = slices.Concat(c, all[i+1]) // "drop and recreate the database", "je supprimerai ensuite la base"
		}
		if c.acts() {
			return true
		}
	}
	return false
}

// commands are shell and SQL commands, in lower case.
var commands = lazyregexp.New(strings.Join([]string{
	`\brm\s+(-\S+\s+)*-\w*[rf]`,
	`\b(curl|wget|iwr)\b[^|\n]*\|\s*(sudo\s+)?(ba|z|da|fi)?sh\b`,
	`\b(ba|z)?sh\s+(-c\s+)?["'<(]*\$?\(?\s*(curl|wget)\b`,
	`\b(curl|wget)\b[^|\n]*\|\s*(sudo\s+)?(python|perl|ruby|node)\d?\b`,
	`\biex\b.*\b(iwr|invoke-webrequest|downloadstring)\b`,
	`\bpush\b[^\n]*\s(--force(-with-lease)?|-f|--mirror|--delete)\b`,
	`\bforce[- ]?push`,
	`\breset\s+--hard\b`,
	`\bclean\s+-\w*f`,
	`\bfilter-(branch|repo)\b`,
	`\b(drop|truncate)\s+(table|database|schema|index|column|view|user|collection)\b`,
	`\bdelete\s+from\s`,
	`\bdropdb\b`,
	`\bflush(all|db)\b`,
	`\bdb\.\w+\.drop\b`,
	`\b(terraform|tofu|pulumi|cdk)\s+(destroy|apply|up|deploy)\b`,
	`\bkubectl\s+(delete|drain|apply)\b`,
	`\bhelm\s+(uninstall|delete|upgrade|install)\b`,
	`\bdocker\s+(system|volume|image)\s+prune\b`,
	`\b(aws|gcloud|az|gsutil)\s[^\n]*\b(rm|rb|delete|terminate\S*|remove)\b`,
	`\b(npm|yarn|pnpm|cargo|poetry|uv|dart|flutter|lerna)\s+publish\b`,
	`\bgem\s+push\b`,
	`\btwine\s+upload\b`,
	`\bdocker\s+push\b`,
	`\bgh\s+(release|repo)\s+(create|delete)\b`,
	`\bmkfs\b`,
	`\bdd\s+if=`,
	`\bshred\b`,
	`\bhistory\s+rewrite\b`,
	`\brewrit(e|ing) (the )?(\w+ )?(git )?history\b`,
	`reecri\w+ l.historique`,
	`réécri\w+ l.historique`,
}, "|"))

// clause is the folded words of a part of a step, between commas and the like.
type clause []string

// clauses cuts a step at punctuation and at words that join verbs.
func clauses(step string) []clause {
	var all []clause
	var c clause
	end := func() {
		if len(c) > 0 {
			all, c = append(all, c), nil
		}
	}
	for _, part := range strings.FieldsFunc(step, func(r rune) bool { return strings.ContainsRune(",;:.!?()[]{}—–→>&+|/\n\"`«»“”", r) }) {
		for _, w := range strings.FieldsFunc(text.Fold(part), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if joining[w] {
				end()
				continue
			}
			c = append(c, w)
		}
		end()
	}
	return all
}

// verbFirst returns a clause without the words before its verb.
func (c clause) verbFirst() clause {
	i := 0
	for i < len(c) && lightWords[c[i]] {
		i++
	}
	return c[i:]
}

// acts reports whether a clause begins with an act that cannot be undone, or has one
// behind a verb for carrying out ("run", "trigger") or a condition.
func (c clause) acts() bool {
	if len(c) == 0 {
		return false
	}
	if carriesOut[c[0]] || conditionWords[c[0]] || c.names() {
		for k := range c {
			if c[k:].act() {
				return true
			}
		}
		return false
	}
	return c.act()
}

// names reports whether a clause begins with what the act is done to, and no verb:
// "production deployment", "database deletion".
func (c clause) names() bool { return len(c) > 1 && (isData(c[0]) || production[c[0]]) }

// act reports whether the first word of a clause is an act, with what it is done to.
func (c clause) act() bool {
	for _, a := range irreversibleActs {
		if a.is(c[0]) && (a.of == nil || a.of(c[1:])) && (a.not == nil || !a.not(c[1:])) {
			return true
		}
	}
	return false
}

// irreversibleAct is a kind of act: the stems of its verbs and nouns, what it must be
// done to, and what it may be done to.
type irreversibleAct struct {
	stems   []string
	of, not func(rest clause) bool
}

func (a irreversibleAct) is(word string) bool {
	for _, stem := range a.stems {
		exact, whole := strings.CutSuffix(stem, "$")
		if whole && word == exact || !whole && strings.HasPrefix(word, stem) {
			return true
		}
	}
	return false
}

//nolint:misspell // half of the words are French
var irreversibleActs = []irreversibleAct{
	{stems: words(`
		delete deleting deletion remove$ removing removal erase erasing empty$ emptying clear$ clearing drop$ dropping supprim
		suppression effac efface vide$ vider vidons videz vidage`), of: data, not: code},
	{stems: words(`
		destroy destruction wipe wiping purge purging terminat decommission nuke detrui purg aneanti`), not: scratch},
	{stems: words("truncat tronqu"), of: data},
	{stems: words("cancel annul resili"), of: contracts},
	{stems: words("deploy redeploy rollout deploi redeploi"), not: harmless},
	{stems: words("ship$ shipping"), not: codeOrHarmless},
	{stems: words(`
		release$ releasing publish$ publishing publication republish publie$ publier publiera publierai publions publiez`), not: codeOrHarmless},
	{stems: words("cut$ create$ creating tag$ make$ creer cree$"), of: aRelease},
	{stems: words(`
		push$ pushing promot roll$ rolling go$ going switch switching mettre mets$ met$ mise$ mettons livr bascul pouss passer
		passe$`), of: toProduction},
	{stems: words("push$ pushing pouss forc"), of: forced},
	{stems: words(`
		pay$ paying paye$ payer payerai paie$ paierai paiement$ payment$ buy$ buying purchase$ purchasing refund acheter
		achete$ achat$ rembours`)},
	{stems: words(`
		settle regler regle$ charge$ charging transfer transferring wire$ debit virer vire$ transferer`), of: money},
	{stems: words(`
		send sending email$ emailing mail$ share$ sharing upload post$ posting paste forward envoi envoy transmet partage
		communiqu expedi`), of: secretOrCrowd},
	{stems: words("notify notifying prevenir informer"), of: crowd},
	{stems: words("revok revoqu"), not: code},
	{stems: words(`
		overwrite overwriting reset$ resetting ecras reinitialis reformat format$ formatter formater`), of: dataStore, not: code},
}

func words(list string) []string { return strings.Fields(list) }

// within returns the words of a clause that name the object of an act.
func (c clause) within(n int) clause { return c[:min(len(c), n)] }

func (c clause) any(set map[string]bool) bool {
	for _, w := range c {
		if set[w] {
			return true
		}
	}
	return false
}

const objectWords = 8

func data(c clause) bool {
	c = c.within(objectWords)
	return slices.ContainsFunc(c, isData) || c.any(production)
}

func isData(word string) bool { return dataWords[word] || dataWords[strings.TrimSuffix(word, "s")] }

func dataStore(c clause) bool { return c.within(objectWords).any(stores) || c.any(production) }

// code reports whether the first noun that an act is done to is a piece of code. A
// word for data before it describes it: "delete the users endpoint".
func code(c clause) bool {
	for _, w := range c.within(objectWords) {
		switch {
		case codeWords[w] || codeWords[strings.TrimSuffix(w, "s")]:
			return !c.any(production)
		case boundaries[w]:
			return false
		}
	}
	return false
}

func scratch(c clause) bool {
	return c.any(scratchWords) && !data(c) || code(c)
}

// harmless reports whether a deployment names a place that is not production.
func harmless(c clause) bool { return c.any(harmlessPlaces) && !c.any(production) || titled(c) }

func codeOrHarmless(c clause) bool { return code(c) || harmless(c) }

// titled reports whether an act is the name of a thing: "release notes", "deploy script".
func titled(c clause) bool { return len(c) > 0 && codeWords[strings.TrimSuffix(c[0], "s")] }

func aRelease(c clause) bool {
	for i, w := range c.within(4) {
		if w == "release" || w == "publication" {
			return !titled(c[i+1:])
		}
	}
	return false
}

func toProduction(c clause) bool { return c.any(production) || c.any(publicly) }

func forced(c clause) bool { return c.any(forcing) }

func money(c clause) bool { return c.any(moneyWords) }

func contracts(c clause) bool { return c.within(objectWords).any(contractWords) && !code(c) }

func crowd(c clause) bool { return c.any(crowds) && !code(c) }

func secretOrCrowd(c clause) bool { return (c.any(secrets) || c.any(crowds)) && !code(c) }

//nolint:misspell // half of the words are French
var (
	joining = wordSet("and then et puis ensuite or ou but mais")
	// lightWords precede the verb of a step.
	lightWords = wordSet(`
		i we will ll am m re are going to now next first also finally let me us s please just need needs have must should
		shall can the a an step remaining still immediately directly actually je j on nous vais va allons il faut faudra reste
		restera a de d la le les l devoir dois doit maintenant enfin abord aussi alors 1 2 3 4 5 6 7 8 9 en y final
		permanently definitivement completely safely manually quickly git sudo s that be able etape gonna force about start
		starting begin commencer par`)
	carriesOut = wordSet(`
		run running execute executing trigger triggering launch perform do apply proceed proceeding carry kick finish complete
		finalize lancer lance executer execute declencher faire fais proceder procede appliquer effectuer finaliser terminer
		achever`)
	dataWords = wordSet(`
		database db table bucket record row backup volume data dataset users account customers collection queue cluster
		namespace instance server stack infrastructure environment schema repo repository disk partition topic history tenant
		s3 everything domain dns deployment column vm orders invoices contacts emails remote base donnee seau enregistrement
		sauvegarde compte utilisateurs clients grappe serveur depot disque historique tout domaine colonne commandes factures
		environnement`)
	stores = wordSet(`
		database databases db table tables bucket disk disks volume volumes partition branch history backup backups data base
		bases donnees disque sauvegarde sauvegardes branche historique main master remote`)
	codeWords = wordSet(`
		endpoint test function page button handler module class classe flag import doc documentation component route method
		helper fixture mock script code comment warning param parameter argument option variable constant type interface
		support logging statement dialog note candidate workflow pipeline process command guide feature field link badge
		template step policy menu form label style rule dependency dependencies package shim wrapper alias case duplicate
		logic call annotation hook stub placeholder checklist plan date event evenement fonction bouton ecran composant
		methode champ commentaire avertissement parametre lien essai notice procedure regle metric metrique cache stale temp
		tmp job config configuration validation check trace tracing snapshot manifest setting request message response header
		query payload state switch line ligne`)
	boundaries = wordSet(`
		from in on of for with after before when once if older dans sur pour avec apres avant quand si du des`)
	scratchWords = wordSet(`
		cache caches temp tmp temporary build artifacts dist node temporaire temporaires`)
	// harmlessPlaces are where a deployment or a publication harms nobody.
	harmlessPlaces = wordSet(`
		staging dev development test testing preview local locally localhost sandbox qa uat kind minikube dry preproduction
		preprod recette developpement localement locale essai bac`)
	production = wordSet("production prod live")
	publicly   = wordSet("npm pypi crates maven rubygems nuget appstore store ligne")
	forcing    = wordSet("force forced forcefully forcer forcee forçage hard")
	moneyWords = wordSet(`
		invoice invoices bill bills card cards customer customers money funds payment payments fee fees euros dollars eur usd
		amount facture factures carte cartes argent fonds montant somme abonnement frais paiement`)
	secrets = wordSet(`
		credential credentials password passwords secret secrets token tokens key keys env identifiant identifiants passe
		jeton jetons cle cles acces`)
	contractWords = wordSet(`
		subscription subscriptions order orders account accounts contract contracts booking bookings reservation payment
		abonnement abonnements commande commandes contrat contrats compte comptes paiement`)
	crowds = wordSet(`
		customers users clients subscribers everyone newsletter utilisateurs abonnes usagers`)
)
