package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// InvariantRule is the Rule of findings about invariants. Their Message is the same for all runs
// that violate one invariant; the observed values are in Evidence.
const InvariantRule = "invariant"

// Invariant is an expression that must be true for every run of a kind of agent, however it is
// perturbed.
type Invariant struct {
	ID string
	// Words describes the invariant.
	Words string
	// Expr is a CEL expression. It may read golden, the facts of the run without perturbations.
	Expr string
}

// String returns the text form that recordings contain:
//
//	// no-call-twice: no question is asked for twice
//	calls.by["questions"] <= golden.calls.by["questions"]
//
// The words are part of it, so that any program can describe a violation from the recording.
func (v Invariant) String() string { return "// " + v.ID + ": " + v.Words + "\n" + v.Expr }

// compiledInvariant is a compiled invariant of a scenario.
type compiledInvariant struct {
	expr  *expression
	words string // with the id
	at    string // in the scenario file; empty if it comes with the agent
}

// splitWords separates the leading comment of a text form from its expression. The words are empty
// without a comment.
func splitWords(text string) (words, expr string) {
	var comments []string
	rest := text
	for {
		line, after, more := strings.Cut(strings.TrimLeft(rest, " \t\r\n"), "\n")
		comment, ok := strings.CutPrefix(line, "//")
		if !ok || !more {
			return strings.Join(comments, " "), strings.TrimSpace(rest)
		}
		comments = append(comments, strings.TrimSpace(comment))
		rest = after
	}
}

func (j *Judge) addInvariants(l *Language, s *record.Scenario) error {
	shipped, own := l.Invariants(s.Agent), 0
	for i, text := range s.Invariants {
		compiled, err := l.condition(text)
		if err != nil {
			return fmt.Errorf("invariants[%d]: %w", i, err)
		}
		v := compiledInvariant{expr: compiled}
		v.words, _ = splitWords(text)
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
	for i := range j.invariants {
		v := &j.invariants[i]
		finding, ok := v.expr.judge(f)
		if ok {
			continue
		}
		if v.words != "" { // the meaning, the values, and only then the expression
			finding.Evidence = strings.TrimPrefix(finding.Evidence+"\n"+strings.Join(strings.Fields(finding.Message), " "), "\n")
			finding.Message = v.words
		}
		finding.Rule, finding.At, finding.Expected, finding.Actual = InvariantRule, v.at, "", ""
		found = append(found, finding)
	}
	return found
}
