package stop

import (
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// verbs are the forms of many verbs, by the name of the set that a lexicon refers
// to them with.
type verbs map[string][]string

func (v verbs) add(set string, forms ...string) { v[set] = append(v[set], forms...) }

// entries calls yield with each line of a list of verbs: the verb, the forms that
// follow the colon if it is irregular, and whether an exclamation mark follows
// it. Everything is folded.
func entries(list string, yield func(verb string, forms []string, marked bool)) {
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		verb, rest, _ := strings.Cut(line, ":")
		verb, marked := strings.CutSuffix(verb, "!")
		forms := strings.Fields(rest)
		for i := range forms {
			forms[i] = text.Fold(forms[i])
		}
		yield(text.Fold(verb), forms, marked)
	}
}

// englishVerbs makes <do>, <did> (past and participle) and <doing> of a list. Verbs
// that double their last letter (stop, stopped) list their forms.
func englishVerbs(list string) verbs {
	v := verbs{}
	entries(list, func(verb string, forms []string, _ bool) {
		v.add("do", verb)
		n := len(verb)
		switch {
		case len(forms) > 0:
			v.add("did", forms[:len(forms)-1]...)
			v.add("doing", forms[len(forms)-1])
		case verb[n-1] == 'e':
			v.add("did", verb+"d")
			v.add("doing", verb[:n-1]+"ing")
		case verb[n-1] == 'y' && !vowel(verb[n-2]):
			v.add("did", verb[:n-1]+"ied")
			v.add("doing", verb+"ing")
		default:
			v.add("did", verb+"ed")
			v.add("doing", verb+"ing")
		}
	})
	return v
}

func vowel(c byte) bool { return strings.IndexByte("aeiou", c) >= 0 }

// frenchVerbs makes <inf>, <je>, <il>, <nous>, <vous> and <tu> (the imperative),
// <feraije>, <ferail> and <feranous>, <part> and <ant> of a list. Verbs that are
// marked get no forms of je and il.
func frenchVerbs(list string) verbs {
	v := verbs{}
	entries(list, func(verb string, forms []string, marked bool) {
		v.add("inf", verb)
		if len(forms) < 6 {
			forms = regular(verb)
		}
		if !marked {
			v.add("je", forms[0])
			v.add("il", forms[1])
			v.add("feraije", forms[4]+"ai")
			v.add("ferail", forms[4]+"a")
		}
		v.add("tu", forms[0])
		v.add("nous", forms[2])
		v.add("ant", strings.TrimSuffix(forms[2], "ons")+"ant")
		v.add("vous", forms[3])
		v.add("feranous", forms[4]+"ons")
		v.add("part", forms[5], forms[5]+"e", forms[5]+"s", forms[5]+"es")
	})
	return v
}

// regular returns the six forms that an irregular verb lists: je, il, nous, vous, the
// stem of the future, the participle.
func regular(verb string) []string {
	stem := verb[:len(verb)-2]
	if strings.HasSuffix(verb, "ir") {
		return []string{stem + "is", stem + "it", stem + "issons", stem + "issez", verb, stem + "i"}
	}
	mute, soft := stem, stem
	if strings.HasSuffix(stem, "oy") || strings.HasSuffix(stem, "uy") {
		mute = stem[:len(stem)-1] + "i" // je nettoie, je nettoierai
	}
	if strings.HasSuffix(stem, "g") {
		soft += "e" // nous corrigeons
	}
	return []string{mute + "e", mute + "e", soft + "ons", stem + "ez", mute + "er", stem + "e"}
}
