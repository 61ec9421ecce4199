package drive_test

import (
	"context"
	"strings"

	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/redact"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// secret is the value of a variable in the environment.
const secret = "correct-horse-battery-staple"

// newEnv returns the environment of trials. It is closed after the spec, when no goroutine may be left.
func newEnv() *drive.Env {
	GinkgoHelper()
	before := gleak.Goroutines()
	prices, err := price.Default()
	Expect(err).NotTo(HaveOccurred())
	env := &drive.Env{Makers: kinds.All().Makers(), Prices: prices, Tokens: token.NewCounter(token.Options{}), Redactor: redact.New([]string{secret})}
	DeferCleanup(func() {
		Expect(env.Close()).To(Succeed())
		Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before))
	})
	return env
}

// driver returns the driver of a scenario, whose name and expect are optional.
func driver(env *drive.Env, text string) drive.Driver {
	GinkgoHelper()
	if !strings.Contains(text, "\nname:") {
		text = "name: spec/one\n" + text
	}
	if !strings.Contains(text, "\nexpect:") {
		text += "\nexpect: {status: done}\n"
	}
	sc, found := scenarios.Parse("spec.yaml", []byte(text), nil, scenarios.Options{Kinds: kinds.All().Formats()})
	Expect(found).To(BeEmpty())
	d, err := drive.New(sc, env)
	Expect(err).NotTo(HaveOccurred())
	return d
}

// trial runs trial n of a scenario.
func trial(text string, n int) (record.Trial, []record.Timing) {
	GinkgoHelper()
	return driver(newEnv(), text).Trial(context.Background(), n)
}

// done returns a trial that must have succeeded.
func done(text string, n int) record.Trial {
	GinkgoHelper()
	t, _ := trial(text, n)
	Expect(t.End.HarnessError).To(BeEmpty())
	Expect(t.End.Status).To(Equal("done"), "%s", t.End.Details)
	return t
}

// encoded returns the trial's lines of the recording.
func encoded(t record.Trial) string {
	GinkgoHelper()
	lines, err := record.Encode(t)
	Expect(err).NotTo(HaveOccurred())
	return string(lines)
}
