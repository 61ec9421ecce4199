package harness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/reports"
)

// ask sends one prompt to the model, as OpenAI's API takes it, and returns the answer.
func ask(ctx context.Context, site app.Site, prompt string) (string, error) {
	body, err := json.Marshal(map[string]any{
		"model": "gpt-4.1-mini", "messages": []any{map[string]string{"role": "user", "content": prompt}},
	})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, site.Backend+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+app.Key)
	resp, err := site.Client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var reply struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil {
		return "", err
	}
	if len(reply.Choices) == 0 {
		return "", fmt.Errorf("status %d", resp.StatusCode)
	}
	return reply.Choices[0].Message.Content, nil
}

const clerk = `
name: clerk/hours
drive:
  function: {name: clerk, turns: [When do you open?, And on Sunday?], timeout: 2h}
backend:
  model: gpt-4.1-mini
  replies:
    - {text: At nine., latency: 1h}
    - {text: We are closed.}
expect: {status: done, calls: 2}
`

var clerks = map[string]app.Function{"clerk": ask}

var _ = Describe("a rehearsal", func() {
	rehearse := func(r harness.Rehearsal) *harness.Result {
		GinkgoHelper()
		res, err := harness.Rehearse(context.Background(), r)
		Expect(err).NotTo(HaveOccurred())
		return res
	}

	It("gives the reason of a refused call once, even if the agent repeats it", func() {
		echo := func(ctx context.Context, site app.Site, text string) (string, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, site.Backend+"/v1/chat/completions",
				strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
			if err != nil {
				return "", err
			}
			res, err := site.Client.Do(req)
			if err != nil {
				return "", err
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			return string(body), err
		}
		text := strings.Replace(clerk, "{text: At nine., latency: 1h}", "{when: {user: bye}, text: At nine.}", 1)
		text = strings.Replace(text, ", And on Sunday?", "", 1)
		story := rehearse(harness.Rehearsal{Text: text, Functions: map[string]app.Function{"clerk": echo}}).String()
		Expect(strings.Count(story, "when.user.contains: expected")).To(Equal(1), story)
		Expect(strings.Count(story, "(see above)")).To(Equal(2), story)
	})

	It("drives a Go function in virtual time", func() {
		res := rehearse(harness.Rehearsal{Text: clerk, Functions: clerks})
		Expect(res.Verdict).To(Equal(gate.Pass), "%s", res)
		Expect(res.Trials).To(HaveLen(1))
		facts := res.Trials[0].Facts
		Expect(facts.Run.Duration).To(BeEquivalentTo(3600))
		Expect(facts.Run.Text).To(Equal("We are closed."))
		Expect(facts.Turns).To(HaveLen(2))
		Expect(facts.Turns[0].Text).To(Equal("At nine."))
		Expect(facts.Turns[1].Calls).To(Equal(1))
	})

	It("creates an agent for each conversation, and passes a function the same site in all turns", func() {
		made := 0
		counting := func(site app.Site) func(context.Context, string) (string, error) {
			made++
			turn, own := 0, made
			return func(ctx context.Context, text string) (string, error) {
				turn++
				if _, err := ask(ctx, site, text); err != nil {
					return "", err
				}
				return fmt.Sprintf("agent %d, turn %d", own, turn), nil
			}
		}
		res := rehearse(harness.Rehearsal{Text: clerk, Makers: map[string]app.Maker{"clerk": counting}, Trials: 3})
		Expect(made).To(Equal(3))
		var last []string
		for _, j := range res.Trials {
			last = append(last, j.Facts.Run.Text)
		}
		Expect(last).To(Equal([]string{"agent 1, turn 2", "agent 2, turn 2", "agent 3, turn 2"}))
	})

	It("is the same byte for byte with any number of workers", func() {
		dirs := []string{GinkgoT().TempDir(), GinkgoT().TempDir()}
		for i, dir := range dirs {
			rehearse(harness.Rehearsal{Text: clerk, Functions: clerks, Trials: 20, Workers: 1 + 3*i, Record: dir})
		}
		Expect(readFile(filepath.Join(dirs[1], "recording.jsonl"))).To(Equal(readFile(filepath.Join(dirs[0], "recording.jsonl"))))
	})

	It("writes a recording that rehearse report reads, with the same facts", func() {
		dir := filepath.Join(GinkgoT().TempDir(), "runs", "one")
		res := rehearse(harness.Rehearsal{Text: strings.Replace(clerk, "calls: 2", "calls: 3", 1), Functions: clerks, Record: dir, Trials: 2})
		file, err := os.Open(filepath.Join(dir, "recording.jsonl"))
		Expect(err).NotTo(HaveOccurred())
		defer file.Close()
		builder, err := reports.FromRecording(file, kinds.Language().Extensions(), reports.Rejudge(kinds.Language(), nil))
		Expect(err).NotTo(HaveOccurred())
		report := builder.Close()
		Expect(report.Problems).To(BeEmpty())
		Expect(report.Verdict).To(Equal(res.Verdict))
		Expect(report.Scenarios[0].Findings).To(Equal(append(res.Trials[0].Findings, res.Trials[1].Findings...)))
		Expect(filepath.Join(dir, "timings.jsonl")).NotTo(BeAnExistingFile())
	})

	It("perturbs a function, and checks the invariants of external agents", func() {
		off := func(perturb string, f app.Function) *harness.Result {
			text := strings.Replace(clerk, "expect: {status: done, calls: 2}", "perturb: ['"+perturb+"']", 1)
			return rehearse(harness.Rehearsal{Text: text, Functions: map[string]app.Function{"clerk": f}})
		}
		Expect(off("call=2:status,status=503", ask).Verdict).To(Equal(gate.Pass))
		vague := func(ctx context.Context, site app.Site, text string) (string, error) {
			answer, err := ask(ctx, site, text)
			if err != nil {
				err = errors.New("something went wrong")
			}
			return answer, err
		}
		res := off("call=2:status,status=503", vague)
		Expect(res.Verdict).To(Equal(gate.Fail))
		Expect(res.Trials[0].Findings[0].Message).To(HavePrefix("cause-named: "))
		// A call longer than the timeout of a turn is canceled, in virtual time.
		res = off("call=1:latency,first=3h", ask)
		Expect(res.Verdict).To(Equal(gate.Pass), "%s", res)
		Expect(res.Trials[0].Facts.Run.Status).To(Equal("timeout"))
	})

	It("writes timings beside a recording in real time, and removes those of an earlier one", func() {
		dir := GinkgoT().TempDir()
		text := strings.NewReplacer("1h", "1ms", "backend:", "backend:\n  as: socket").Replace(clerk)
		res := rehearse(harness.Rehearsal{Text: text, Functions: clerks, Record: dir})
		Expect(res.Verdict).To(Equal(gate.Pass), "%s", res)
		Expect(filepath.Join(dir, "timings.jsonl")).To(BeAnExistingFile())
		rehearse(harness.Rehearsal{Text: clerk, Functions: clerks, Record: dir})
		Expect(filepath.Join(dir, "timings.jsonl")).NotTo(BeAnExistingFile())
	})

	It("reads files, folders and shipped scenarios, sorted by name", func() {
		dir := GinkgoT().TempDir()
		Expect(os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(clerk), 0o600)).To(Succeed())
		res := rehearse(harness.Rehearsal{
			Kinds: kinds.All(), Files: []string{"loop/no-progress", dir}, Text: strings.Replace(clerk, "clerk/hours", "a/text", 1), Functions: clerks,
		})
		var names []string
		for _, j := range res.Trials {
			names = append(names, j.Trial.Head.Scenario)
		}
		Expect(names).To(Equal([]string{"a/text", "clerk/hours", "loop/no-progress"}))
		Expect(res.Trials[0].Scenario.File).To(BeEmpty(), "there is no file to open")
		Expect(res.Trials[1].Scenario.File).To(Equal(filepath.Join(dir, "a.yaml")))
		again := rehearse(harness.Rehearsal{Kinds: kinds.All(), Scenarios: nil, Files: []string{dir}, Functions: clerks})
		Expect(again.Trials[0].Facts).To(Equal(res.Trials[1].Facts))
	})

	It("removes secrets from its recording", func() {
		GinkgoT().Setenv("CLERK_API_KEY", secret)
		dir := GinkgoT().TempDir()
		res := rehearse(harness.Rehearsal{Text: strings.Replace(clerk, "At nine.", "It is "+secret, 1), Functions: clerks, Record: dir})
		Expect(res.Trials[0].String()).NotTo(ContainSubstring(secret))
		Expect(readFile(filepath.Join(dir, "recording.jsonl"))).NotTo(ContainSubstring(secret))
	})

	DescribeTable("rejects", func(r harness.Rehearsal, message string) {
		res, err := harness.Rehearse(context.Background(), r)
		Expect(err).To(MatchError(And(HavePrefix("rehearse: "), ContainSubstring(message))))
		Expect(res == nil || len(res.Trials) == 0).To(BeTrue())
	},
		Entry("no scenarios", harness.Rehearsal{}, "no scenarios: set Files"),
		Entry("a negative number of trials", harness.Rehearsal{Text: clerk, Trials: -1}, "the number of trials must be at least 1, or 0 for the number in each scenario, got -1"),
		Entry("a negative number of workers", harness.Rehearsal{Text: clerk, Workers: -1}, "the number of workers must be at least 1, or 0 for the default, got -1"),
		Entry("a nil function", harness.Rehearsal{Text: clerk, Functions: map[string]app.Function{"clerk": nil}}, `the function of the agent "clerk" is nil`),
		Entry("a nil maker", harness.Rehearsal{Text: clerk, Makers: map[string]app.Maker{"clerk": nil}}, `the maker of the agent "clerk" is nil`),
		Entry("an agent that is a function and a maker", harness.Rehearsal{
			Text: clerk, Functions: clerks,
			Makers: map[string]app.Maker{"clerk": func(app.Site) func(context.Context, string) (string, error) { return nil }},
		}, "is in Functions and in Makers"),
		Entry("an unknown agent", harness.Rehearsal{Text: clerk}, `no Go function is registered as "clerk" (there are: none)`),
		Entry("a misspelled agent", harness.Rehearsal{Text: clerk, Functions: map[string]app.Function{"clark": ask}}, `"clerk" (there are: clark)`),
		Entry("an invalid scenario", harness.Rehearsal{Text: strings.Replace(clerk, "status: done", "status: finished", 1), Functions: clerks}, `Text:10:`),
		Entry("a missing file", harness.Rehearsal{Files: []string{"no/such.yaml"}, Functions: clerks}, "no/such.yaml"),
		Entry("several problems, all at once", harness.Rehearsal{Files: []string{"no/such.yaml"}, Text: "name: a"}, "such.yaml: cannot be read: no such file or directory\nText:1:1: the key"),
		Entry("a duplicate name", harness.Rehearsal{Kinds: kinds.All(), Text: strings.Replace(clerk, "clerk/hours", "loop/no-progress", 1), Files: []string{"loop/no-progress"}, Functions: clerks},
			"two scenarios have the name loop/no-progress"),
		Entry("a recording that cannot be written", harness.Rehearsal{Text: clerk, Functions: clerks, Record: "/dev/null/x"}, "make the output folder"),
	)

	It("stops when its context ends, with the trials before", func() {
		ctx, cancel := context.WithCancelCause(context.Background())
		stop := errors.New("enough")
		turns := 0
		res, err := harness.Rehearse(ctx, harness.Rehearsal{
			Text: clerk, Trials: 5,
			Functions: map[string]app.Function{"clerk": func(ctx context.Context, site app.Site, text string) (string, error) {
				if turns++; turns == 5 { // in the third trial
					cancel(stop)
				}
				return ask(ctx, site, text)
			}},
		})
		Expect(err).To(MatchError(stop))
		Expect(res.Trials).To(HaveLen(2))
	})
})

func readFile(name string) string {
	GinkgoHelper()
	data, err := os.ReadFile(name)
	Expect(err).NotTo(HaveOccurred())
	return string(data)
}

// BenchmarkRehearseFunction measures a rehearsal of a Go function with two turns.
func BenchmarkRehearseFunction(b *testing.B) {
	for b.Loop() {
		res, err := harness.Rehearse(b.Context(), harness.Rehearsal{Text: clerk, Functions: clerks})
		if err != nil || res.Verdict != gate.Pass {
			b.Fatal(err, res)
		}
	}
}
