package gate

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// InvariantRule is the Rule of findings about invariants. Their Message is the
// same for all runs that break one, and so names it; what was seen is in Evidence.
const InvariantRule = "invariant"

// invariant is an expression that must hold of a run however it is perturbed.
type invariant struct {
	expr  *Expr
	words string
	at    string // in the scenario file; empty if it comes with the agent
}

// Words separates what an invariant says in words from its expression. The words
// are the comment that it begins with, such as
//
//	// no-call-twice: no question is asked for twice
//	calls.by["questions"] <= golden.calls.by["questions"]
//
// They travel with the expression, so that a recording can name what was broken
// whatever the program that reads it. They are empty where there is no comment.
func Words(text string) (words, expr string) {
	var said []string
	rest := text
	for {
		line, after, more := strings.Cut(strings.TrimLeft(rest, " \t\r\n"), "\n")
		comment, ok := strings.CutPrefix(line, "//")
		if !ok || !more {
			return strings.Join(said, " "), strings.TrimSpace(rest)
		}
		said = append(said, strings.TrimSpace(comment))
		rest = after
	}
}

// addInvariants lets the judge hold runs against the invariants of a scenario.
func (j *Judge) addInvariants(s *record.Scenario) error {
	shipped, own := Invariants(s.Agent), 0
	for i, text := range s.Invariants {
		compiled, err := Compile(text)
		if err != nil {
			return fmt.Errorf("invariants[%d]: %w", i, err)
		}
		v := invariant{expr: compiled}
		v.words, _ = Words(text)
		if !slices.Contains(shipped, text) {
			v.at = fmt.Sprintf("invariants[%d]", own)
			own++
		}
		j.invariants = append(j.invariants, v)
	}
	j.rules = append(j.rules, judgeInvariants)
	return nil
}

func judgeInvariants(j *Judge, f *measure.Facts, found []Finding) []Finding {
	if j.golden {
		own := *f
		own.Golden = measure.GoldenOf(f)
		f = &own
	}
	vars := activation{reflect.ValueOf(f).Elem()}
	for i := range j.invariants {
		v := &j.invariants[i]
		finding, ok := v.expr.judge(vars)
		if ok {
			continue
		}
		found = append(found, Finding{
			Severity: finding.Severity, Rule: InvariantRule, At: v.at,
			Message:  cmp.Or(v.words, "does not hold: "+v.expr.text),
			Evidence: strings.TrimSuffix(finding.Message+"; "+finding.Evidence, "; "),
		})
	}
	return found
}
