package detect

import (
	"context"
	"regexp"
	"slices"
	"strings"
)

// expressions are the 49 of document 000, word for word, by category.
//
//nolint:misspell // half of them are French
var expressions = []struct {
	category string
	sources  []string
}{
	{"next_steps", []string{
		`prochaines?\s+étapes?`, `étapes?\s+suivantes?`, `prochaines?\s+actions?`, `actions?\s+suivantes?`,
		`dans\s+les?\s+prochaines?\s+étapes?`, `les?\s+étapes?\s+à\s+suivre`,
		`next\s+steps?`, `following\s+steps?`, `next\s+actions?`, `upcoming\s+steps?`, `steps?\s+to\s+follow`,
	}},
	{"remaining_tasks", []string{
		`tâches?\s+restantes?`, `tâches?\s+à\s+faire`, `tâches?\s+à\s+compléter`, `tâches?\s+à\s+réaliser`,
		`il\s+reste(?:ra)?\s+à`, `il\s+faudra(?:it)?`, `reste(?:nt)?\s+à\s+faire`,
		`remaining\s+tasks?`, `tasks?\s+to\s+do`, `tasks?\s+to\s+complete`, `need(?:s)?\s+to\s+be\s+done`, `still\s+need(?:s)?\s+to`,
	}},
	{"future_actions", []string{
		`ensuite`, `plus\s+tard`, `par\s+la\s+suite`, `dans\s+un\s+second\s+temps`, `dans\s+une\s+prochaine\s+itération`,
		`ultérieurement`, `à\s+l'avenir`, `dans\s+le\s+futur`,
		`then`, `later`, `afterwards?`, `subsequently`, `in\s+the\s+future`, `next\s+time`,
	}},
	{"conditional_intentions", []string{
		`on\s+pourrait`, `nous\s+pourrions`, `il\s+serait\s+bien\s+de`, `ce\s+serait\s+bien\s+de`, `je\s+suggère\s+de`, `je\s+recommande\s+de`,
		`we\s+could`, `we\s+should`, `it\s+would\s+be\s+good\s+to`, `I\s+suggest(?:s)?`, `I\s+recommend(?:s)?`,
	}},
	{"enumerative_list", []string{
		`(?:prochaines?|suivantes?|restantes?)\s+\w+.*[:\n].*(?:\n\s*[-•*\d]+\s+.+){2,}`,
	}},
}

// asMeant translates the expressions from JavaScript, where \s matches any white space of Unicode
// and the dot stops at any line end (ECMA-262, sections 22.2.2.7 and 22.2.2.9). Unlike JavaScript,
// \w matches letters of all scripts, so that "prochaines étapes" counts as two words and the
// baseline is not weaker than intended.
var asMeant = strings.NewReplacer(
	`\s`, `[\t\n\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]`,
	`.`, `[^\n\r\x{2028}\x{2029}]`,
	`\w`, `[\pL\pN_]`,
)

// expression is a compiled expression.
type expression struct {
	category, source string
	*regexp.Regexp
}

// Naive returns the baseline: the 49 regular expressions of document 000 over the raw text,
// case-insensitive. Any match makes the message positive.
func Naive() Detector {
	var n naive
	for _, group := range expressions {
		for _, source := range group.sources {
			n.expressions = append(n.expressions, expression{
				group.category, source, regexp.MustCompile("(?i)" + asMeant.Replace(source)),
			})
		}
	}
	return &n
}

type naive struct{ expressions []expression }

// Name implements Detector.
func (*naive) Name() string { return "naive" }

// Kind returns Messages.
func (*naive) Kind() CorpusKind { return Messages }

// Detect implements Detector. As in the document, only the first match of each expression counts.
func (n *naive) Detect(_ context.Context, item Item) (Prediction, error) {
	var p Prediction
	for _, e := range n.expressions {
		found := e.FindStringIndex(item.Text)
		if found == nil {
			continue
		}
		p.Positive = true
		p.Spans = append(p.Spans, [2]int(found))
		p.Reasons = append(p.Reasons, "/"+e.source+"/i")
		if !slices.Contains(p.Categories, e.category) {
			p.Categories = append(p.Categories, e.category)
		}
	}
	p.Spans = SortSpans(p.Spans)
	return p, nil
}
