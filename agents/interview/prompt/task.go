package prompt

import (
	"slices"
	"strconv"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// The names of texts that the code refers to.
const (
	frame     = "frame"     // the role and the tone, and the subjects to avoid
	works     = "works"     // introduces the works of the candidate
	reinforce = "reinforce" // describes the findings about the last text
	missing   = "missing"   // introduces the titles that the last text lacked
	job       = "job"       // describes the job
	fallback  = "fallback/" // prefix of the texts that are shown instead of invalid ones
)

// task returns the names of the texts that instruct a model: the form for the purpose, the rules of
// the block and, after the first mirrors, how to build on them.
func task(p session.Purpose, step session.Step, index int, m session.Medium) []string {
	switch p {
	case session.PurposePreamble:
		return []string{"preamble", job}
	case session.PurposeQuestions:
		return []string{"questions", "questions/" + string(step)}
	case session.PurposeAdaptive:
		return []string{"adaptive", "adaptive/" + adaptive(index, m)}
	case session.PurposeMirror:
		switch step {
		case session.Block1:
			return []string{"mirror", "mirror/" + string(step)}
		case session.Block2B: // has a different form
			return []string{"mirror/" + string(step), "fusion"}
		default:
			return []string{"mirror", "mirror/" + string(step), "fusion"}
		}
	case session.PurposeProfile:
		return []string{"profile"}
	case session.PurposeMatching:
		return []string{"matching", job}
	}
	return nil
}

// fallbackFor returns the name of the text that is shown instead of invalid ones.
func fallbackFor(p session.Purpose, step session.Step, index int, m session.Medium) string {
	switch {
	case p == session.PurposeQuestions, p == session.PurposeMirror && step == session.Block2B:
		return fallback + string(p) + "/" + string(step)
	case p == session.PurposeAdaptive:
		return fallback + string(p) + "/" + adaptive(index, m)
	}
	return fallback + string(p)
}

// adaptive returns the name of the rules for a question of block 2A. The second question depends on
// the chosen medium.
func adaptive(index int, m session.Medium) string {
	if index == 1 {
		return "1-" + string(m)
	}
	return strconv.Itoa(index)
}

// namesWorks reports whether the task refers to the works of the candidate.
func namesWorks(step session.Step, index int) bool {
	return step == session.Block2B || step == session.Block2A && index == 2
}

// names lists the texts of a set.
func names() []string {
	all := []string{frame, works, reinforce, missing}
	for _, f := range session.FixedTexts() {
		all = append(all, "fixed/"+string(f))
	}
	for _, step := range session.Steps() {
		for index, p := range step.Calls() {
			for _, m := range []session.Medium{session.Series, session.Film} {
				all = append(all, task(p, step, index, m)...)
				all = append(all, fallbackFor(p, step, index, m))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
