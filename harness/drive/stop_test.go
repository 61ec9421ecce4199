package drive_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// hooked is a scenario whose agent first defers, and then does the work.
const hooked = `
drive: {hook: {host: claude, prompt: Add the migration. The key is correct-horse-battery-staple.}}
backend:
  model: gpt-4.1-mini
  replies:
    - {text: "The schema is there.\nNext steps: write the migration.", latency: 20s}
    - {text: "The migration is written and tested.", when: {user: write the migration}, latency: 40s}
expect: {status: stopped}`

var _ = Describe("A host with the hook of the guard", Label("G-12"), func() {
	It("makes the agent continue with the hook's message, and records both", func() {
		t, _ := trial(hooked, 1)
		Expect(t.End).To(And(HaveField("Status", "stopped"), HaveField("ExitCode", 0), HaveField("Iterations", 2), HaveField("HarnessError", "")))
		Expect(t.End.Duration.Seconds()).To(Equal(60.0), "the time is that of the script, not of the processes")
		Expect(t.Calls).To(HaveLen(2))
		Expect(t.Calls[0].Purpose).To(Equal("agent"))
		Expect(t.Events).To(HaveLen(2))
		Expect(t.Events[0].Attrs).To(And(HaveKeyWithValue("allow", false), HaveKeyWithValue("forced", true), HaveKeyWithValue("steps", 1)))
		Expect(t.Events[1].Attrs).To(And(HaveKeyWithValue("allow", true), HaveKeyWithValue("forced", false), HaveKeyWithValue("executed", 1)))
	})

	It("gives the same recording twice, without secrets and without the folder of the hook", func() {
		once, _ := trial(hooked, 1)
		again, _ := trial(hooked, 1)
		Expect(encoded(once)).To(Equal(encoded(again)))
		Expect(encoded(once)).NotTo(ContainSubstring(secret))
		broken := strings.Replace(hooked, "host: claude,", "host: claude, damage: no-state,", 1)
		t, _ := trial(broken, 1)
		Expect(t.End.Details).To(ContainSubstring("FOLDER"))
		Expect(encoded(t)).NotTo(ContainSubstring(os.TempDir()))
	})

	It("is described without the secrets of its prompt", func() {
		head := driver(newEnv(), hooked).Head()
		Expect(head.Agent).To(Equal("hook"))
		Expect(string(head.Limits)).To(And(ContainSubstring(`"host":"claude"`), Not(ContainSubstring(secret))))
	})

	It("leaves no folder behind", func() {
		dir := GinkgoT().TempDir()
		GinkgoT().Setenv("TMPDIR", dir)
		trial(hooked, 1)
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		Expect(err).NotTo(HaveOccurred())
		Expect(left).To(BeEmpty())
	})

	DescribeTable("reports a program that is not a hook:",
		func(program, details string) {
			file := filepath.Join(GinkgoT().TempDir(), "program")
			Expect(os.WriteFile(file, []byte("#!/bin/sh\n"+program+"\n"), 0o700)).To(Succeed())
			env := newEnv()
			env.Executable = file
			t, _ := driver(env, hooked).Trial(context.Background(), 1)
			Expect(t.End).To(And(HaveField("Status", "error"), HaveField("ExitCode", 1), HaveField("Details", ContainSubstring(details))))
		},
		Entry("exit status", "exit 2", "exit status 2"),
		Entry("text", "echo fine", "not one JSON object"),
		Entry("a key that the host does not know", `echo '{"verdict": "stop"}'`, "verdict"),
		Entry("killed", "kill -9 $$", "ended by force"),
	)

	It("reports a missing program", func() {
		env := newEnv()
		env.Executable = filepath.Join(GinkgoT().TempDir(), "none")
		t, _ := driver(env, hooked).Trial(context.Background(), 1)
		Expect(t.End).To(And(HaveField("Status", "error"), HaveField("Details", ContainSubstring("run the hook"))))
	})
})
