package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	goopenai "github.com/sashabaranov/go-openai"

	agent "github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/harness/kind/function"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/database"
	"github.com/rehearse-dev/rehearse/kinds"
)

// clerk is an agent whose code changes from commit to commit.
type clerk struct {
	calls int  // at the model, for each turn
	fails bool // to answer
}

func (c *clerk) answer(ctx context.Context, site agent.Site, text string) (answer string, err error) {
	config := goopenai.DefaultConfig(agent.Key)
	config.BaseURL, config.HTTPClient = site.Backend+"/v1", site.Client
	for range c.calls {
		reply, err := goopenai.NewClientWithConfig(config).CreateChatCompletion(ctx, goopenai.ChatCompletionRequest{
			Model: "gpt-4.1-mini", Messages: []goopenai.ChatCompletionMessage{{Role: goopenai.ChatMessageRoleUser, Content: text}},
		})
		if err != nil {
			return "", err
		}
		answer = reply.Choices[0].Message.Content
	}
	if c.fails {
		answer = "The clerk is out."
	}
	return answer, nil
}

// agents returns the kinds of agent with two Go functions.
func agents(order, moody *clerk) kind.List {
	makers := map[string]agent.Maker{}
	for name, c := range map[string]*clerk{"order": order, "moody": moody} {
		makers[name] = func(site agent.Site) func(context.Context, string) (string, error) {
			return func(ctx context.Context, text string) (string, error) { return c.answer(ctx, site, text) }
		}
	}
	list := kinds.All()
	at := slices.IndexFunc(list, func(k kind.Kind) bool { return k.Name == "function" })
	list[at] = function.Kind(makers)
	return list
}

// project is a repository in the current folder, with a history of runs.
type project struct {
	*gomega.WithT
	t     *testing.T
	kinds kind.List
}

// rehearse returns what a command prints.
func (p *project) rehearse(code int, args ...string) string {
	p.t.Helper()
	out, errs := p.run(code, args...)
	p.Expect(errs).NotTo(gomega.ContainSubstring("warning"))
	return out
}

func (p *project) run(code int, args ...string) (out, errs string) {
	p.t.Helper()
	var stdout, stderr bytes.Buffer
	p.Expect(run(p.kinds, args, strings.NewReader(""), &stdout, &stderr)).To(gomega.Equal(code), "%q: %s%s", args, &stdout, &stderr)
	return stdout.String(), stderr.String()
}

// read reads what a command prints as JSON.
func (p *project) read(into any, args ...string) {
	p.t.Helper()
	p.Expect(json.Unmarshal([]byte(p.rehearse(exitPass, append(args, "--json")...)), into)).To(gomega.Succeed())
}

func (p *project) git(args ...string) string {
	p.t.Helper()
	text, err := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...).CombinedOutput()
	p.Expect(err).NotTo(gomega.HaveOccurred(), "%s", text)
	return strings.TrimSpace(string(text))
}

// commit commits a file.
func (p *project) commit(name, text string) string {
	p.t.Helper()
	p.Expect(os.MkdirAll(filepath.Dir(name), 0o700)).To(gomega.Succeed())
	p.Expect(os.WriteFile(name, []byte(text), 0o600)).To(gomega.Succeed())
	p.git("add", name)
	p.git("commit", "-qm", text)
	return p.git("rev-parse", "HEAD")
}

// clerkScenario returns a scenario of a function.
func clerkScenario(name, question string) string {
	return fmt.Sprintf(`name: %s
drive: {function: {name: %[1]s, turns: [%s]}}
backend: {model: gpt-4.1-mini, rules: [{text: It is on its way., usage: {input: 100, output: 10}}]}
expect: {status: done, that: ['run.text == "It is on its way."']}
`, name, question)
}

// TestHistoryOfARepository is H-04: over 30 commits, the trend names the commit that made a scenario dearer and the one
// that changed its content, and a scenario that fails now and then is flaky. Both survive the loss of the database.
func TestHistoryOfARepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	t.Chdir(t.TempDir())
	order, moody := &clerk{calls: 1}, &clerk{calls: 1}
	p := &project{gomega.NewWithT(t), t, agents(order, moody)}
	t.Setenv(historyVariable, "")
	p.git("init", "-q", "-b", "main")
	p.commit("scenarios/moody.yaml", clerkScenario("moody", "Where is it?"))
	p.commit("scenarios/order.yaml", clerkScenario("order", "Where is my order?"))
	var dearer, changed string
	for n := 1; n <= 30; n++ {
		commit := p.commit("agent.txt", fmt.Sprint("agent ", n))
		switch n {
		case 20:
			order.calls, dearer = 2, commit
		case 25:
			changed = p.commit("scenarios/order.yaml", clerkScenario("order", "Where is my parcel?"))
		}
		code := exitPass
		if moody.fails = n%5 == 3; moody.fails {
			code = exitFail
		}
		p.rehearse(code, "run", "order", "moody", "loop/golden-marker", "--html=false", "--out", fmt.Sprint("runs/", n))
	}

	var trend history.Trend
	p.read(&trend, "history", "trend", "order", "--measure", "cost_eur")
	p.Expect(trend.Runs).To(gomega.HaveLen(30))
	p.Expect(trend.Series).To(gomega.HaveLen(1))
	p.Expect(trend.Series[0].Changes).To(gomega.HaveLen(1))
	change := trend.Series[0].Changes[0]
	p.Expect(change.Commit).To(gomega.Equal(dearer))
	p.Expect(change.Index).To(gomega.Equal(19))
	p.Expect(change.Worse).To(gomega.BeTrue())
	p.Expect(change.After).To(gomega.BeNumerically("~", 2*change.Before, 1e-12))
	p.Expect(trend.Breaks).To(gomega.HaveLen(1))
	p.Expect(trend.Runs[trend.Breaks[0].Index].Commit).To(gomega.Equal(changed))

	var flaky history.Flakiness
	p.read(&flaky, "history", "flaky")
	p.Expect(flaky.Scenarios).To(gomega.Equal(3))
	p.Expect(flaky.Flaky).To(gomega.HaveLen(1)) // never a scripted one
	p.Expect(flaky.Flaky[0].Scenario).To(gomega.Equal("moody"))
	rate := flaky.Flaky[0].FailRate
	p.Expect(rate.Value).To(gomega.HaveValue(gomega.BeNumerically("~", 0.2, 1e-12)))
	p.Expect(rate.Interval.Lo).To(gomega.BeNumerically("<", 0.2))
	p.Expect(rate.Interval.Hi).To(gomega.BeNumerically(">", 0.2))

	asked := [][]string{{"history", "--json", "-n", "0"}, {"history", "trend", "order", "--json"}, {"history", "flaky", "--json"}}
	before := make([]string, len(asked))
	for i, args := range asked {
		before[i] = p.rehearse(exitPass, args...)
	}
	p.Expect(p.rehearse(exitPass, "history", "import", "runs")).To(gomega.ContainSubstring("0 runs added, 30 already in the history"))
	p.Expect(os.Remove(historyFile)).To(gomega.Succeed())
	p.Expect(p.rehearse(exitPass, "history", "import", "runs")).To(gomega.ContainSubstring("30 runs added, 0 already in the history"))
	for i, args := range asked {
		p.Expect(p.rehearse(exitPass, args...)).To(gomega.Equal(before[i]), "%q", args)
	}
}

// TestHistoryThatCannotBeWritten is H-04: a history that is locked, of a newer version or in a read-only folder is a
// warning. The verdict stays, and nothing is lost.
func TestHistoryThatCannotBeWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	moody := &clerk{calls: 1}
	p := &project{gomega.NewWithT(t), t, agents(moody, moody)}
	t.Setenv(historyVariable, "")
	p.Expect(os.Mkdir("scenarios", 0o700)).To(gomega.Succeed())
	p.Expect(os.WriteFile("scenarios/moody.yaml", []byte(clerkScenario("moody", "Where is it?")), 0o600)).To(gomega.Succeed())
	p.rehearse(exitPass, "run", "--out", "runs/first")
	warned := func(warning string, more ...string) {
		t.Helper()
		for code, fails := range map[int]bool{exitPass: false, exitFail: true} {
			moody.fails = fails
			out, errs := p.run(code, append([]string{"run", "--out", fmt.Sprint("runs/", code)}, more...)...)
			p.Expect(out).To(gomega.ContainSubstring("1 scenario: 1"))
			p.Expect(errs).To(gomega.MatchRegexp("warning: this run is not in the history: .*" + warning))
		}
	}
	db, err := database.OpenSQLite(historyFile, "busy_timeout(5000)")
	p.Expect(err).NotTo(gomega.HaveOccurred())
	db.SetMaxOpenConns(1)
	execute := func(statement string) {
		t.Helper()
		_, err := db.ExecContext(t.Context(), statement)
		p.Expect(err).NotTo(gomega.HaveOccurred())
	}
	execute("BEGIN EXCLUSIVE")
	warned("another program has locked the file; nothing was changed")
	execute("ROLLBACK")
	p.Expect(p.rehearse(exitPass, "history", "import", "runs")).To(gomega.ContainSubstring("2 runs added, 1 already in the history"))
	if _, err := os.Stat("/proc/self"); err == nil {
		warned("open the history /proc/history.db: open /proc/history.db: no such file or directory", "--history", "/proc/history.db")
	}
	execute("INSERT INTO history_schema (version_id, is_applied) VALUES (99, true)")
	p.Expect(db.Close()).To(gomega.Succeed())
	warned("a newer version of this program wrote it")
	_, errs := p.run(exitNoVerdict, "history")
	p.Expect(errs).To(gomega.ContainSubstring("a newer version of this program wrote it"))
}
