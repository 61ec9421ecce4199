package web_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("docs/reference/interview.md", func() {
	It("has a curl example with the documented output", Label("I-01"), func(ctx SpecContext) {
		for _, tool := range []string{"sh", "curl", "sed", "tee"} {
			if _, err := exec.LookPath(tool); err != nil {
				Skip("needs " + tool)
			}
		}
		page, err := os.ReadFile("../../../docs/reference/interview.md")
		Expect(err).NotTo(HaveOccurred())
		_, rest, found := strings.Cut(string(page), "<!-- The specs of agents/interview/web run the next block")
		Expect(found).To(BeTrue())
		script := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(rest)[1]

		sh := exec.CommandContext(ctx, "sh", "-e", "-c", script)
		sh.Dir = GinkgoT().TempDir()
		sh.Env = append(os.Environ(), "URL="+newTown(GinkgoTB(), "memory:").url, "no_proxy=*")
		out, err := sh.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
		answers := strings.Split(strings.TrimSpace(string(out)), "\n")
		wanted := regexp.MustCompile(`(?m)^# (".*)$`).FindAllStringSubmatch(script, -1)
		Expect(answers).To(HaveLen(len(wanted)))
		for i, line := range wanted {
			for _, part := range strings.Fields(line[1]) {
				Expect(answers[i]).To(ContainSubstring(part), "answer %d", i+1)
			}
		}
	})
})
