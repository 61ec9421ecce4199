package drive_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/kind/function"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// observant is an agent, and its own session, whose answer has attributes.
type observant struct{ attrs map[string]any }

func (o observant) Start(context.Context, app.Site) (app.Session, error) { return o, nil }

func (o observant) Say(context.Context, string) (app.Answer, error) {
	return app.Answer{Text: "Hi.", Attrs: o.attrs}, nil
}

func (observant) End(context.Context) error { return nil }

var _ = Describe("the attributes of an answer", func() {
	run := func(attrs map[string]any) record.Trial {
		GinkgoHelper()
		env := newEnv()
		env.Makers["function"] = func(sc scenarios.Scenario, env *drive.Env) (drive.Driver, error) {
			talk := sc.Drive.Options.(*function.Options).Talk
			return drive.NewConversation(sc, env, drive.Conversation{Talk: talk, Agent: observant{attrs}, Virtual: true})
		}
		sc, found := scenarios.Parse("spec.yaml", []byte("name: spec/attrs\ndrive: {function: {name: observant, turns: [Hello.]}}\n"+
			"backend:\n  unpriced: true\n  rules: [{text: x, optional: true}]\nexpect: {status: done}\n"), nil, scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(found).To(BeEmpty())
		d, err := drive.New(sc, env)
		Expect(err).NotTo(HaveOccurred())
		t, _ := d.Trial(context.Background(), 1)
		return t
	}

	It("are recorded with the turn", func() {
		t := run(map[string]any{"http_status": 200, "route": "fast"})
		Expect(t.End.Status).To(Equal(scenarios.AppDone))
		Expect(t.Events).To(ContainElement(HaveField("Attrs", And(HaveKeyWithValue("http_status", 200), HaveKeyWithValue("route", "fast")))))
	})
	DescribeTable("cannot replace those of the harness", func(name string) {
		t := run(map[string]any{name: "mine", "route": "fast"})
		Expect(t.End.Status).To(Equal(scenarios.AppError))
		Expect(t.End.AgentError).To(BeTrue())
		Expect(t.End.HarnessError).To(ContainSubstring(`the attribute "` + name + `"`))
		Expect(t.Events).NotTo(ContainElement(HaveField("Attrs", HaveKeyWithValue(name, "mine"))))
	},
		Entry("the user's message", "user"),
		Entry("the number of calls", "calls"),
		Entry("the error", "error"),
		Entry("the kind of error", "kind"),
		Entry("denied tool calls", "denied"),
	)
})
