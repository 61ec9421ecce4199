package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Step is a step of the interview. The two parts of block 2 are separate steps, so that their
// answers cannot be mixed up.
type Step string

// The steps in order, by the names that clients see.
const (
	Identity Step = "STEP_01_IDENTITY"
	Tone     Step = "STEP_02_TONE"
	Preamble Step = "STEP_03_PREAMBULE"
	Block1   Step = "BLOC_01"
	Block2A  Step = "BLOC_02A"
	Block2B  Step = "BLOC_02B"
	Block3   Step = "BLOC_03"
	Block4   Step = "BLOC_04"
	Block5   Step = "BLOC_05"
	Block6   Step = "BLOC_06"
	Block7   Step = "BLOC_07"
	Block8   Step = "BLOC_08"
	Block9   Step = "BLOC_09"
	Block10  Step = "BLOC_10"
	Matching Step = "STEP_99_MATCHING"
)

// Steps lists the steps in order.
func Steps() []Step {
	return []Step{
		Identity, Tone, Preamble, Block1, Block2A, Block2B, Block3, Block4, Block5, Block6,
		Block7, Block8, Block9, Block10, Matching,
	}
}

// Next returns the step after s; Matching is followed by itself.
func (s Step) Next() Step {
	steps := Steps()
	return steps[min(slices.Index(steps, s)+1, len(steps)-1)]
}

// Block returns the number of the block, from 1 to 10, or 0 before the first block. The
// matching is part of block 10.
func (s Step) Block() int {
	if s == Matching {
		return 10
	}
	digits, ok := strings.CutPrefix(string(s), "BLOC_")
	if !ok {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimRight(digits, "AB"))
	return n
}

// Calls lists the purposes of the calls that a step needs if nothing fails, in order.
func (s Step) Calls() []Purpose {
	switch s {
	case Identity, Tone:
		return nil // fixed texts
	case Preamble:
		return []Purpose{PurposePreamble}
	case Block2A: // no mirror: 2B builds on it
		return slices.Repeat([]Purpose{PurposeAdaptive}, adaptiveQuestions)
	case Block10:
		return []Purpose{PurposeProfile}
	case Matching:
		return []Purpose{PurposeMatching}
	default:
		return []Purpose{PurposeQuestions, PurposeMirror}
	}
}

// Part returns "A" or "B" in block 2, and "" elsewhere.
func (s Step) Part() string {
	switch s {
	case Block2A:
		return "A"
	case Block2B:
		return "B"
	default:
		return ""
	}
}

// UnmarshalText accepts only the names in Steps.
func (s *Step) UnmarshalText(text []byte) error {
	if !slices.Contains(Steps(), Step(text)) {
		return fmt.Errorf("unknown step %q", text)
	}
	*s = Step(text)
	return nil
}
