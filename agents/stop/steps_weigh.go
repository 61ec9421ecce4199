package stop

import (
	"slices"
	"strings"
	"time"
)

// kind is what sort of work the verb of a step names.
type kind uint8

// The kinds of work.
const (
	other kind = iota
	check
	edit
	create
	rebuild
	describe
	deliver
	report
)

// work is a kind of work: the beginnings of its verbs, and the minutes that simple, moderate and
// complex work of the kind takes. The minutes are round figures of what a coding agent takes, to
// order and to sum steps by; nothing was measured.
type work struct {
	verbs   []string
	points  int // of complexity
	minutes [3]time.Duration
}

var works = [...]work{
	other: {minutes: [3]time.Duration{5, 15, 45}},
	check: {minutes: [3]time.Duration{2, 5, 15}, verbs: strings.Fields(`
		test run rerun retry check verif valid inspect review look confirm debug investigat analy audit lint
		examin regard lanc ran execut relanc revoi diagnos measur benchmark`)},
	edit: {minutes: [3]time.Duration{5, 15, 45}, verbs: strings.Fields(`
		fix add updat remov delet renam replac chang correct corrig ajout modif supprim remplac repar adjust
		ajust clean nettoy tweak patch mett handl uncomment restor adapt`)},
	create: {minutes: [3]time.Duration{10, 30, 90}, points: 1, verbs: strings.Fields(`
		implement creat built build wrote writ develop extend finish generat cre constru impl ecri termin
		etend draft code`)},
	rebuild: {minutes: [3]time.Duration{15, 45, 120}, points: 2, verbs: strings.Fields(`
		refactor migrat redesign rewrit rearchitect port integrat convert overhaul restructur replatform
		split extract reecri migr integr refond extrai reorganis rework upgrad`)},
	describe: {minutes: [3]time.Duration{5, 15, 40}, verbs: strings.Fields(`
		document comment explain describ annotat expliqu decri redig`)},
	deliver: {minutes: [3]time.Duration{3, 10, 30}, verbs: strings.Fields(`
		commit push deploy merg releas publish ship install deplo pouss fusionn publi livr open ouvr tag`)},
	report: {minutes: [3]time.Duration{1, 2, 5}, verbs: strings.Fields(`
		notif tell report inform ping prevei tien let show montr`)},
}

// weigh estimates a step by stated rules. Points: 1 if the work creates, 2 if it
// rebuilds; 1 if it reaches far ("all", "throughout"); 1 for three objects or
// more; 1 if it takes more than 20 words to say. No point is simple, one or two
// are moderate, more are complex.
func (x *extractor) weigh(p piece) (Complexity, time.Duration) {
	const long, several = 20, 3
	k := x.kindOf(p)
	points, far, objects := works[k].points, false, 1
	for i := p.first; i < p.end; i++ {
		far = far || x.in(i, wideWords)
		if i > p.first && (x.in(i, joiningWords) || x.gapHas(i, ",")) {
			objects++
		}
	}
	for _, counts := range []bool{far, objects >= several, p.end-p.first > long} {
		if counts {
			points++
		}
	}
	level := min((points+1)/2, 2)
	return []Complexity{Simple, Moderate, Complex}[level], works[k].minutes[level] * time.Minute
}

// kindOf returns the kind of the first word of a piece that has one.
func (x *extractor) kindOf(p piece) kind {
	const reach = 4
	for _, w := range x.doc.Words[p.first:min(p.end, p.first+reach)] {
		if k := kindOfVerb(w.Fold); k != other {
			return k
		}
	}
	return other
}

// kindOfVerb returns the kind of work of a folded word, other if it names none.
func kindOfVerb(fold string) kind {
	for k, w := range works {
		if slices.ContainsFunc(w.verbs, func(verb string) bool { return strings.HasPrefix(fold, verb) }) {
			return kind(k)
		}
	}
	return other
}
