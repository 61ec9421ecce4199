package record_test

import (
	"bytes"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/record"
)

var _ = Describe("The timings file", Label("H-04"), func() {
	two := []record.Timing{
		{Scenario: "loop/a", Trial: 1, Call: 1, Latency: 3 * time.Millisecond},
		{Scenario: "loop/a", Trial: 1, Latency: 5 * time.Millisecond},
	}

	It("is read as it was written", func() {
		var file bytes.Buffer
		Expect(record.WriteTimings(&file, two)).To(Succeed())
		Expect(strings.Count(file.String(), "\n")).To(Equal(2))
		Expect(record.ReadTimings(&file)).To(Equal(two))
	})

	It("may be torn at its end", func() {
		var file bytes.Buffer
		Expect(record.WriteTimings(&file, two)).To(Succeed())
		Expect(record.ReadTimings(bytes.NewReader(file.Bytes()[:file.Len()-9]))).To(Equal(two[:1]))
	})

	It("names an invalid line", func() {
		var file bytes.Buffer
		Expect(record.WriteTimings(&file, two)).To(Succeed())
		_, err := record.ReadTimings(strings.NewReader(file.String() + "what?\n"))
		Expect(err).To(MatchError(ContainSubstring("line 3")))
	})
})
