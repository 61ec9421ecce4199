package drive_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/kind/function"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

var _ = DescribeTable("an agent that falls silent in a later turn",
	func(calls bool, status, wrong string) {
		env := newEnv()
		env.Makers["function"] = function.Kind(map[string]app.Maker{"silent": func(site app.Site) func(context.Context, string) (string, error) {
			return func(ctx context.Context, text string) (string, error) {
				if text == "First." {
					return chat(ctx, site, text)
				}
				if !calls {
					return "", nil
				}
				_, err := chat(ctx, site, text)
				return "", err
			}
		}}).New
		sc, found := scenarios.Parse("spec.yaml", []byte("name: spec/silent\ndrive:\n  function:\n    name: silent\n    turns: [First., Second.]\n"+
			"backend:\n  unpriced: true\n  rules: [{text: x, times: 2}]\nexpect: {status: done}\n"), nil, scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(found).To(BeEmpty())
		d, err := drive.New(sc, env)
		Expect(err).NotTo(HaveOccurred())
		t, _ := d.Trial(context.Background(), 1)
		Expect(t.End.Status).To(Equal(status))
		Expect(t.End.HarnessError).To(HavePrefix(wrong))
	},
	Entry("has not answered, if it did not even call its model", false, scenarios.AppError, "the agent ended turn 2 without an answer"),
	Entry("may have done its work without an answer", true, scenarios.AppDone, ""),
)
