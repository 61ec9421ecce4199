package harness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
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

// testT records the calls of a test's methods. Fatalf and Skipf panic, because those of real tests end
// the goroutine.
type testT struct {
	errors, fatals, skips []string
}

func (t *testT) Helper()                      {}
func (t *testT) Context() context.Context     { return context.Background() }
func (t *testT) Errorf(f string, args ...any) { t.errors = append(t.errors, fmt.Sprintf(f, args...)) }

func (t *testT) Fatalf(f string, args ...any) {
	t.fatals = append(t.fatals, fmt.Sprintf(f, args...))
	runtime.Goexit()
}

func (t *testT) Skipf(f string, args ...any) {
	t.skips = append(t.skips, fmt.Sprintf(f, args...))
	runtime.Goexit()
}

// checked runs Check as a test runner does.
func checked(r harness.Rehearsal) (t *testT, res *harness.Result) {
	t = &testT{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		res = harness.Check(t, r)
	}()
	<-done
	return t, res
}

var _ = Describe("a rehearsal within a test", func() {
	It("passes if all expectations are met", func() {
		t, res := checked(harness.Rehearsal{Text: clerk, Functions: clerks})
		Expect(*t).To(Equal(testT{}))
		Expect(res.Verdict).To(Equal(gate.Pass))
	})

	It("fails the test with a description of the trials, and returns for further assertions", func() {
		t, res := checked(harness.Rehearsal{Text: strings.Replace(clerk, "calls: 2", "calls: 3", 1), Functions: clerks})
		Expect(res.Verdict).To(Equal(gate.Fail))
		Expect(t.errors).To(Equal([]string{res.String()}))
		Expect(t.errors[0]).To(Equal(`FAIL clerk/hours: done, 2 calls, 16 tokens, 0.0000148 USD, 1h 0m
  ✗ calls: expected exactly 3 calls, saw 2 (expect.calls)
  user     "When do you open?"
  call 1   gpt-4.1-mini, 5 + 3 tokens, 1h 0m: "At nine."
  answer   "At nine."
  user     "And on Sunday?"
  call 2   gpt-4.1-mini, 4 + 4 tokens: "We are closed."
  answer   "We are closed."
  end      done
`))
	})

	It("ends the test if the rehearsal fails", func() {
		t, res := checked(harness.Rehearsal{Text: clerk})
		Expect(res).To(BeNil())
		Expect(t.fatals).To(ConsistOf(ContainSubstring("no Go function is registered")))
	})

	It("fails the test if the verdict is error", func() {
		t, res := checked(harness.Rehearsal{Text: clerk, Functions: map[string]app.Function{
			"clerk": func(context.Context, app.Site, string) (string, error) { return "\xff", nil },
		}})
		Expect(res.Verdict).To(Equal(gate.Error))
		Expect(t.errors).To(ConsistOf(And(HavePrefix("ERROR clerk/hours"), ContainSubstring("not UTF-8"))))
	})

	It("skips the test if all trials were skipped", func() {
		GinkgoT().Setenv("REHEARSE_TEST_POSTGRES", "")
		t, _ := checked(harness.Rehearsal{Files: []string{"interview/store-postgres"}, Kinds: kinds.All()})
		Expect(t.skips).To(ConsistOf(HavePrefix("SKIP interview/store-postgres")))
		Expect(t.errors).To(BeEmpty())
	})
})

var _ = Describe("the description of a trial", func() {
	It("has a limited length", func() {
		turns := strings.Repeat("Go on., ", 199) + "Stop."
		text := fmt.Sprintf(`
name: clerk/talk
drive: {function: {name: clerk, turns: [%s]}}
backend: {model: gpt-4.1-mini, replies: [{text: "line one\n\e[31mline two", times: 200}]}
expect: {status: done, calls: 1}
`, turns)
		res, err := harness.Rehearse(context.Background(), harness.Rehearsal{Text: text, Functions: clerks, Trials: 7})
		Expect(err).NotTo(HaveOccurred())
		story := res.Trials[0].String()
		Expect(strings.Split(story, "\n")).To(HaveLen(1 + 1 + 61 + 1))
		Expect(story).To(ContainSubstring("  … 541 steps more\n"))
		Expect(story).NotTo(ContainSubstring("\x1b"))
		Expect(strings.Count(res.String(), "\n")).To(Equal(5*63+2), "five full descriptions, and one line for each other trial")
	})

	It("reports that there was no trial", func() {
		Expect((&harness.Result{}).String()).To(Equal("no trial was run\n"))
	})
})

// BenchmarkRehearseFunction measures a rehearsal of a Go function with two turns.
func BenchmarkRehearseFunction(b *testing.B) {
	for b.Loop() {
		res, err := harness.Rehearse(b.Context(), harness.Rehearsal{Text: clerk, Functions: clerks})
		if err != nil || res.Verdict != gate.Pass {
			b.Fatal(err, res)
		}
	}
}

var _ = Describe("the recording of a failed rehearsal", func() {
	It("is written to the folder, which the failure names", func(ctx SpecContext) {
		folder := filepath.Join(GinkgoT().TempDir(), "failed")
		t, res := checked(harness.Rehearsal{
			Text: strings.Replace(clerk, "calls: 2", "calls: 3", 1), Functions: clerks, RecordFailed: folder, Trials: 2,
		})
		Expect(res.Recording).To(Equal(folder))
		Expect(t.errors[0]).To(HaveSuffix("recording: " + folder + " (show it with: rehearse report " + folder + ")\n"))
		whole := filepath.Join(GinkgoT().TempDir(), "all")
		_, err := harness.Rehearse(ctx, harness.Rehearsal{
			Text: strings.Replace(clerk, "calls: 2", "calls: 3", 1), Functions: clerks, Record: whole, Trials: 2,
		})
		Expect(err).NotTo(HaveOccurred())
		want, err := os.ReadFile(filepath.Join(whole, "recording.jsonl"))
		Expect(err).NotTo(HaveOccurred())
		Expect(os.ReadFile(filepath.Join(folder, "recording.jsonl"))).To(Equal(want))
	})

	It("is not written if no trial failed", func() {
		folder := filepath.Join(GinkgoT().TempDir(), "failed")
		_, res := checked(harness.Rehearsal{Text: clerk, Functions: clerks, RecordFailed: folder})
		Expect(res.Recording).To(BeEmpty())
		Expect(folder).NotTo(BeADirectory())
	})
})

var _ = Describe("a snapshot", func() {
	rehearsed := func() *harness.Result {
		GinkgoHelper()
		res, err := harness.Rehearse(context.Background(), harness.Rehearsal{Text: clerk, Functions: clerks})
		Expect(err).NotTo(HaveOccurred())
		return res
	}
	snapshot := func(file string) *testT {
		t, done := &testT{}, make(chan struct{})
		go func() {
			defer close(done)
			harness.Snapshot(t, file, rehearsed())
		}()
		<-done
		return t
	}

	It("is written with -update, and then matches", func() {
		file := filepath.Join(GinkgoT().TempDir(), "testdata", "hours.txt")
		Expect(snapshot(file).fatals).To(ConsistOf(ContainSubstring("does not exist; go test -update writes it")))
		before := flag.Lookup("update").Value.String()
		Expect(flag.Set("update", "true")).To(Succeed())
		DeferCleanup(flag.Set, "update", before)
		Expect(*snapshot(file)).To(Equal(testT{}))
		Expect(flag.Set("update", "false")).To(Succeed())
		Expect(*snapshot(file)).To(Equal(testT{}))
		Expect(os.ReadFile(file)).To(ContainSubstring(`answer   "At nine."`))
	})

	It("fails the test at the first difference", func() {
		file := filepath.Join(GinkgoT().TempDir(), "hours.txt")
		changed := strings.Replace(rehearsed().Trials[0].String(), "At nine.", "At ten.", 2)
		Expect(os.WriteFile(file, []byte(changed), 0o600)).To(Succeed())
		Expect(snapshot(file).errors).To(ConsistOf(And(ContainSubstring("in line 3:"), ContainSubstring(`At ten.`), ContainSubstring("go test -update accepts"))))
	})
})
