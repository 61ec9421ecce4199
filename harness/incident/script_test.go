package incident_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/incident"
)

var _ = DescribeTable("calls in the same millisecond", func(format incident.Format, began string, rules bool) {
	conversations, _, err := read(format, fmt.Sprintf(`{"resourceSpans":[{"scopeSpans":[{"spans":[%s,%s]}]}]}`,
		timedSpan("s1", "1700000000005000000", "1700000000010600000"), timedSpan("s2", began, "1700000000020000000")))
	Expect(err).NotTo(HaveOccurred())
	sc := written(conversations[0], incident.Options{})
	Expect(strings.Contains(string(sc.Text), "  rules:\n")).To(Equal(rules))
},
	Entry("follow each other if the beginning was cut", incident.OTLP, "1700000000010000000", false),
	Entry("overlap if it was not", incident.OTLP, "1700000000010500000", true),
	Entry("overlap if they began in another one", incident.OTLP, "1700000000009000000", true),
)

func timedSpan(id, began, ended string) string {
	return fmt.Sprintf(`{"traceId":"t","spanId":%q,"startTimeUnixNano":%q,"endTimeUnixNano":%q,"attributes":[`+
		`{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}}%s%s]}`, id, began, ended,
		attribute("gen_ai.prompt.0.role", "user")+attribute("gen_ai.prompt.0.content", "hi"),
		attribute("gen_ai.completion.0.content", "answer "+id))
}
