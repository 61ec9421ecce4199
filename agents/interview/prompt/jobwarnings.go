package prompt

import (
	"fmt"
	"regexp"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/textfold"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// jobDemands match what a job says about the persons that it wants, and an interview leaves alone, in
// folded words. The rules for texts to candidates, which apply as well, do not look for it.
var jobDemands = []struct {
	about string
	words func() *regexp.Regexp
}{
	{"age", lazyregexp.New(`\b(?:young(?: and)? dynamic|dynamic(?: and)? young|youthful|recent graduates?|digital natives?|` +
		`(?:(?:people|persons?|candidates?|applicants?|anybody|anyone) )(?:aged )?(?:under|below|over) [2-6]\d|(?:under|over) the age of \d+|` +
		`(?:older|younger) than [2-6]\d|(?:between )?[1-6]\d (?:and|to) [2-6]\d years old|` +
		`jeunes?(?: et)? dynamiques?|dynamiques?(?: et)? jeunes?|jeunes? diplomee?s?|jeunes? retraitee?s?|` +
		`moins de [2-6]\d ans|(?:age ?e? )?(?:de|entre) [1-6]\d (?:a|et) [2-6]\d ans|limite d age)\b`)},
	{"family", lazyregexp.New(`\b(?:(?:no|without) (?:young )?(?:children|kids|family commitments|family ties)|child ?(?:free|less)|` +
		`unmarried|single person|sans (?:enfants?|charges? de famille|attaches?(?: familiales?)?|contraintes? familiales?)|celibataires?)\b`)},
	{"health", lazyregexp.New(`\b(?:(?:good|excellent|perfect) health|able bodied|(?:bonne|excellente|parfaite) sante)\b`)},
	{"origin", lazyregexp.New(`\b(?:native (?:french|english)|mother tongue|langue maternelle|` +
		`de nationalite \w+|` + //nolint:misspell // French
		`(?:french|british|eu) nationals?)\b`)},
}

// experience matches what only looks like a limit of age.
var experience = lazyregexp.New(`^ (?:d |of )?(?:experience|anciennete|seniority)`)

// JobWarnings returns the places in the file of a job that mention what an interview leaves alone: the
// preamble would show them to candidates, and the matching would judge by them.
func JobWarnings(file string, data []byte) yamlsrc.Diagnostics {
	var j session.Job
	doc, _ := yamlsrc.Decode(file, data, &j)
	var found yamlsrc.Diagnostics
	check := func(path, text string) {
		for _, about := range forbiddenIn(text, j.Language) {
			found = append(found, doc.At(path, about+"; an interview leaves that alone", ""))
		}
	}
	check("title", j.Title)
	check("mission", j.Mission)
	check("context", j.Context)
	for i, r := range j.Requirements {
		check(fmt.Sprintf("requirements[%d]", i), r)
	}
	found.Sort()
	return found
}

// forbiddenIn describes what a text mentions, once for each subject.
func forbiddenIn(text string, l session.Language) (all []string) {
	known := map[string]bool{}
	add := func(about, words string) {
		if !known[about] {
			known[about] = true
			all = append(all, fmt.Sprintf("the job mentions %s (%q)", about, words))
		}
	}
	words := textfold.Join(text)
	for _, d := range jobDemands {
		for _, at := range d.words().FindAllStringIndex(words, -1) {
			if !experience().MatchString(words[at[1]:]) {
				add(d.about, words[at[0]:at[1]])
			}
		}
	}
	for _, f := range validate.Check(text, validate.Expected{Language: l}).Findings {
		if f.Rule == "forbidden-zone" && !f.Warning { // warnings are about messages to a person
			add(f.Section, f.Words)
		}
	}
	return all
}
