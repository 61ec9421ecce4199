package validate_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
)

func TestValidate(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/interview/validate")
}

const separator = "---QUESTION_SEPARATOR---"

// The expectations of the specs.
var (
	mirrorOf1 = validate.Expected{Purpose: session.PurposeMirror, Step: session.Block1, Language: session.French}
	batchOf3  = validate.Expected{Purpose: session.PurposeQuestions, Step: session.Block3, Language: session.French}
	profile   = validate.Expected{Purpose: session.PurposeProfile, Step: session.Block10, Language: session.French}
	matching  = validate.Expected{Purpose: session.PurposeMatching, Step: session.Matching, Language: session.French}
	preamble  = validate.Expected{Purpose: session.PurposePreamble, Step: session.Preamble, Language: session.French}
	batchOf2B = validate.Expected{
		Purpose: session.PurposeQuestions, Step: session.Block2B, Language: session.French, Medium: session.Series,
		Works: []string{"Breaking Bad", "Le Bureau des légendes"},
	}
	mirrorOf2B = validate.Expected{
		Purpose: session.PurposeMirror, Step: session.Block2B, Language: session.French,
		Works: []string{"Breaking Bad", "Le Bureau des légendes"},
	}
)

// rules returns the rules that a text breaks, each once, in order.
func rules(text string, want validate.Expected) []validate.Rule {
	var all []validate.Rule
	for _, f := range validate.Check(text, want).Findings {
		if !slices.Contains(all, f.Rule) {
			all = append(all, f.Rule)
		}
	}
	return all
}

// only returns the one finding that a text has.
func only(text string, want validate.Expected) validate.Finding {
	GinkgoHelper()
	found := validate.Check(text, want).Findings
	Expect(found).To(HaveLen(1), "%+v", found)
	return found[0]
}

// n words.
func n(count int) string { return strings.TrimSpace(strings.Repeat("mot ", count)) }
