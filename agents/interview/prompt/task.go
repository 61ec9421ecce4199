package prompt

import (
	"slices"
	"strconv"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// The texts that belong to no task.
const (
	frame     = "frame"     // who speaks, in which tone, about what never
	works     = "works"     // introduces what the candidate's answers named
	reinforce = "reinforce" // says that the last text was refused, and why
	missing   = "missing"   // introduces the titles that it lacked
	fallback  = "fallback/" // begins the names of texts that are shown where a model's are refused
)

// task names the texts that together tell a model what to write: the form that
// the purpose demands, the rules of the block and, where there are earlier
// mirrors to build on, how to build on them. A whole set is many times as long.
func task(p session.Purpose, step session.Step, index int, m session.Medium) []string {
	switch p {
	case session.PurposePreamble:
		return []string{"preamble"}
	case session.PurposeQuestions:
		return []string{"questions", "questions/" + string(step)}
	case session.PurposeAdaptive:
		return []string{"adaptive", "adaptive/" + adaptive(index, m)}
	case session.PurposeMirror:
		switch step {
		case session.Block1:
			return []string{"mirror", "mirror/" + string(step)}
		case session.Block2B: // has a form of its own
			return []string{"mirror/" + string(step), "fusion"}
		}
		return []string{"mirror", "mirror/" + string(step), "fusion"}
	case session.PurposeProfile:
		return []string{"profile"}
	case session.PurposeMatching:
		return []string{"matching", "job"}
	}
	return nil
}

// fallbackFor names the text that is shown where no text of a model was good
// enough.
func fallbackFor(p session.Purpose, step session.Step, index int, m session.Medium) string {
	switch {
	case p == session.PurposeQuestions, p == session.PurposeMirror && step == session.Block2B:
		return fallback + string(p) + "/" + string(step)
	case p == session.PurposeAdaptive:
		return fallback + string(p) + "/" + adaptive(index, m)
	}
	return fallback + string(p)
}

// adaptive names the rules of a question of block 2A; the second one speaks of
// the medium that was chosen.
func adaptive(index int, m session.Medium) string {
	if index == 1 {
		return "1-" + string(m)
	}
	return strconv.Itoa(index)
}

// namesWorks reports whether the task speaks of works that the candidate named.
func namesWorks(step session.Step, index int) bool {
	return step == session.Block2B || step == session.Block2A && index == 2
}

// names lists the texts of a set.
func names() []string {
	all := []string{frame, works, reinforce, missing}
	for _, f := range []session.Fixed{session.FixedIdentity, session.FixedTone, session.FixedToneNew, session.FixedMedium} {
		all = append(all, "fixed/"+string(f))
	}
	for _, p := range session.Purposes() {
		for _, step := range stepsOf(p) {
			for index := range 3 {
				for _, m := range []session.Medium{session.Series, session.Film} {
					all = append(all, task(p, step, index, m)...)
					all = append(all, fallbackFor(p, step, index, m))
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// stepsOf lists the steps with calls for a purpose.
func stepsOf(p session.Purpose) []session.Step {
	switch p {
	case session.PurposePreamble:
		return []session.Step{session.Preamble}
	case session.PurposeAdaptive:
		return []session.Step{session.Block2A}
	case session.PurposeProfile:
		return []session.Step{session.Block10}
	case session.PurposeMatching:
		return []session.Step{session.Matching}
	}
	return []session.Step{
		session.Block1, session.Block2B, session.Block3, session.Block4, session.Block5,
		session.Block6, session.Block7, session.Block8, session.Block9,
	}
}
