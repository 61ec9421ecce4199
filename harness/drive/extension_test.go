package drive_test

import (
	interview "github.com/rehearse-dev/rehearse/agents/interview/kind"
	persist "github.com/rehearse-dev/rehearse/agents/persist/kind"
	react "github.com/rehearse-dev/rehearse/agents/react/kind"
	"github.com/rehearse-dev/rehearse/harness/measure"
)

func interviewOf(f measure.Facts) *interview.InterviewFacts {
	return f.Extensions["interview"].(*interview.InterviewFacts)
}

func superviseOf(f measure.Facts) *persist.SuperviseFacts {
	return f.Extensions["supervise"].(*persist.SuperviseFacts)
}

func reactOf(f measure.Facts) *react.ReactFacts {
	return f.Extensions["react"].(*react.ReactFacts)
}
