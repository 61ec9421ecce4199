package drive_test

import (
	"bytes"
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/record"
)

var _ = Describe("A secret", Label("H-05"), func() {
	DescribeTable("never reaches the recording",
		func(text string, shows string) {
			text = strings.ReplaceAll(text, "$SECRET", secret)
			d := driver(newEnv(), text)
			t, _ := d.Trial(context.Background(), 1)
			var all bytes.Buffer
			writer, err := record.NewWriter(&all, record.Run{})
			Expect(err).NotTo(HaveOccurred())
			Expect(writer.Scenario(d.Head())).To(Succeed())
			Expect(writer.Trial([]byte(encoded(t)))).To(Succeed())
			Expect(all.String()).NotTo(ContainSubstring(secret))
			Expect(all.String()).To(ContainSubstring(shows))
		},
		Entry("in the prompt", "drive: {loop: {prompt: Use $SECRET now.}}\nbackend: {model: gpt-4.1-mini, replies: [{text: DONE}]}", "Use [REDACTED:secret] now."),
		Entry("in other settings", "drive: {loop: {prompt: Go., system: $SECRET, marker: $SECRET, blocked_marker: no $SECRET, continue_prompt: $SECRET, model: $SECRET, backend: $SECRET}}\nbackend: {unpriced: true, replies: [{text: $SECRET}]}",
			`"marker":"[REDACTED:secret]"`),
		Entry("in the answer", "drive: {loop: {prompt: Go.}}\nbackend: {model: gpt-4.1-mini, replies: [{text: \"It is $SECRET.\\nDONE\"}]}", "It is [REDACTED:secret]."),
		Entry("in an error", "drive: {loop: {prompt: Go.}}\nbackend: {model: gpt-4.1-mini, replies: [{fault: {kind: status, status: 500, message: no $SECRET}}]}", "no [REDACTED:secret]"),
		Entry("on a process's standard error", "drive: {loop: {prompt: Go.}}\nbackend: {as: claude, model: claude-sonnet-4-5, replies: [{fault: {kind: exit, message: no $SECRET}}]}", "no [REDACTED:secret]"),
		Entry("in the description of the scenario", "about: Of $SECRET.\ndrive: {loop: {prompt: Go.}}\nbackend: {model: gpt-4.1-mini, replies: [{text: DONE}]}", "Of [REDACTED:secret]."),
		Entry("in an expression", "drive: {loop: {prompt: Go.}}\nbackend: {model: gpt-4.1-mini, replies: [{text: DONE}]}\nexpect: {that: ['run.text != \"$SECRET\"']}", "run.text != \\\"[REDACTED:secret]\\\""),
		Entry("of a well-known form", "drive: {loop: {prompt: Use sk-abcdefghijklmnopqrstuvwxyz0123456789 now.}}\nbackend: {model: gpt-4.1-mini, replies: [{text: DONE}]}", "Use [REDACTED"),
	)

	It("is passed on to the agent, which needs it", func() {
		t := done("drive: {loop: {prompt: Use "+secret+".}}\nbackend: {model: gpt-4.1-mini, rules: [{when: {user: "+secret+"}, text: DONE}]}", 1)
		Expect(t.Script.Unexpected).To(BeEmpty())
	})
})
