package flow

// The words of both languages by which an answer chooses, folded. Which language
// an interview has does not matter: people mix them, and no word of one misleads
// in the other.
var (
	informal = phrases("tutoy*, tutoi*, informal*, informel*, casual*, relaxed, decontracte*, familier*, familiere*, " +
		"friendly, amical*, first name, laid back, tu ou toi")
	formal = phrases("vouvoy*, vouvoi*, vousvoy*, vousvoi*, voussoy*, voussoi*, formal*, formel*, formel*, polite*, " +
		"professional*, professionnel*, soutenu*, respectful*")
	series = phrases("serie*, mini serie*, miniserie*, show, shows, tv show, tv shows, tv, tv serie*, television, tele, " +
		"sitcom*, feuilleton*, anime, animes")
	films = phrases("film, films, movie, movies, cinema*, cine, long metrage*, longs metrages, telefilm*, tv movie*, tv film*, " +
		"feature film*")

	// naming is what stands before a letter whatever follows, chosen before one
	// that ends its clause or goes on with afterLetter.
	naming      = phrases("option *, reponse *, choix *, choice *, answer *, lettre *, letter *")
	afterLetter = phrases("ou, et, or, and, que, plutot, rather, please, svp, stp, sans, bien sur, evidemment, definitely")
	chosen      = phrases("le *, la *, the *, " +
		"prends *, choisis *, dirais *, plutot *, pick *, choose *, ou *, or *, et *, and *, is *, est *, with *, for *, " +
		"pour *, pas *, not *, ni *, nor *, say *, prefere *, prefer *, que *, than *")

	// sayTu is what stands before a pronoun that is a way to address somebody, and
	// tuIsFine what follows one. After nouns it is one whatever follows.
	sayTu = phrases("le *, dire *, dis *, dit *, dites *, disons *, dises *, disiez *, moi *, nous *, plutot *, prefere *, " +
		"choisis *, prends *, par *, du *, au *, utilise *, utilisez *, utiliser *, ni *, pas *, oui *, ou *, que *, bien *, " +
		"ok *, va *, en *, mode *, donc *, say *, use *, the *, with *, prefer *")
	nouns    = phrases("le *, du *, au *, the *")
	tuIsFine = phrases("me va, me convient, me suffit, me plait, m arrange, ca me, ca va, c est, sera, que, ou, ni, si, " +
		"plutot, svp, stp, merci, alors, bien sur, evidemment, please, volontiers, sans, is fine, is good, works, s il")

	// negations reject what follows, or what stands right before them if they are
	// afterthoughts.
	negations = phrases("pas, non, ni, sans, jamais, plus, moins, not, no, nothing, never, neither, nor, without, less, cannot, cant, " +
		"dont, don't, doesn't, didn't, isn't, aren't, wasn't, won't, can't, couldn't, wouldn't, shouldn't, haven't, hasn't, " +
		"rarement, tres rarement, rarely, very rarely, hardly, deteste*, hais, hate, hates, dislike, evit*, avoid, refuse, refuser, " +
		"plutot que, rather than, instead of, au lieu de, au lieu du, au lieu des, a la place de, fed up")
	afterthoughts = phrases("merci, thanks, thank you, trop, vraiment, really, so much, too much, du tout, at all, pour moi, " +
		"for me, tellement, plus")
	// spoils reject what stands before them in the clause.
	spoils = phrases("m ennui*, m agace*, m enerve*, me gene*, me lasse*, mal a l aise, bore me, bores me, annoy*, " +
		"makes me uncomfortable, make me uncomfortable")
	// idioms hold words of the other lists and mean nothing of theirs.
	idioms = phrases("s il vous plait, s il te plait, sans hesit*, sans aucun*, sans souci*, sans probleme*, sans doute, " +
		"sans reflechir, pas de souci*, pas de probleme*, pas de preference*, aucun probleme, aucun souci, pas grave, " +
		"pas d inconvenient, pas d objection, pourquoi pas, pas mal, pas seulement, pas uniquement, pas que, " +
		"me gene* pas, me derange* pas, genez pas, gene pas, derange pas, hesite* pas, hesitez pas a, " +
		"no problem, no worries, no doubt, no objection, no question, no hesitation, no preference, without hesitation, " +
		"without a doubt, without doubt, why not, not only, not just, don't mind, dont mind, wouldn't mind, not mind, " +
		"don't hesitate, don't care, not a problem, not bad, can't wait, " +
		"plus ou moins, more or less, non plus, au moins, at least")
	preferences = phrases("plutot, prefere*, preferer*, prefer, prefers, preferably, preference, surtout, davantage, plus, " +
		"mieux, principalement, majoritairement, essentiellement, more, rather, mostly, mainly, favourite, favorite, " +
		"especially, definitely, better, love, adore")
	// comparisons reject what follows, if something is preferred before; thans do
	// so in any case.
	comparisons = phrases("que, qu, than, to, over, au, aux, a la, a l")
	thans       = phrases("than, over")

	articles = phrases("le, la, les, l, un, une, des, the, a, du")
)
