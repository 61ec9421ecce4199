package cli

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"go.yaml.in/yaml/v4"
)

// The examples for CI are read and their commands run as the servers would, in a
// new repository. The steps that need the network are known by their names.

const ciFolder = "../examples/ci"

// ciStep has the parts of a step or job that tests use.
type ciStep struct {
	Name            string
	Run             string
	If              string
	Uses            string
	Env             map[string]string
	With            map[string]string
	ContinueOnError bool `yaml:"continue-on-error"`
}

type githubWorkflow struct {
	On          map[string]any
	Permissions map[string]string
	Jobs        map[string]githubJob
}

type githubJob struct {
	Needs       string
	If          string
	Permissions map[string]string
	Env         map[string]string
	Steps       []ciStep
}

type gitlabJob struct {
	Script       []string
	BeforeScript []string `yaml:"before_script"`
	AfterScript  []string `yaml:"after_script"`
	Variables    map[string]string
	AllowFailure bool `yaml:"allow_failure"`
	Artifacts    struct {
		When    string
		Paths   []string
		Reports map[string]string
	}
}

// network are the steps that reach for other machines; commenting is run with a
// stand-in.
var network = []string{"Check out", "Set up Go", "Install rehearse", "Keep the reports", "Fetch the reports"}

// repository is one of a user, with a blessed baseline.
type repository struct {
	*gomega.WithT
	t                    *testing.T
	dir, summary, posted string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	for _, program := range []string{"git", "bash"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("this machine has no %s", program)
		}
	}
	r := &repository{WithT: gomega.NewWithT(t), t: t, dir: t.TempDir()}
	outside := t.TempDir()
	r.summary, r.posted = filepath.Join(outside, "summary.md"), filepath.Join(outside, "posted")
	r.write("scenarios/greet.yaml", scenarioOf("DONE"))
	r.write(".gitignore", "rehearsal/\n")
	// What gh and curl are asked to do; they know of no comment yet.
	standIn := "#!/bin/sh\nprintf '%s\\n' \"$*\" >> " + r.posted + "\ncase \"$*\" in *--paginate*|*per_page*) cat " + r.posted + ".known;; esac\n"
	for _, program := range []string{"gh", "curl"} {
		r.Expect(os.WriteFile(filepath.Join(outside, program), []byte(standIn), 0o755)).To(gomega.Succeed())
	}
	r.Expect(os.WriteFile(r.posted+".known", nil, 0o644)).To(gomega.Succeed())
	t.Setenv("PATH", outside+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("GITHUB_STEP_SUMMARY", r.summary)
	t.Setenv("GITHUB_REPOSITORY", "acme/agent")
	t.Setenv("NO_COLOR", "1")
	return r
}

// scenarioOf returns a scenario whose agent sends text before it is done, or nothing.
func scenarioOf(replies ...string) string {
	var b strings.Builder
	b.WriteString("name: greet\ndrive: {loop: {prompt: Say DONE.}}\nbackend:\n  model: gpt-4.1-mini\n  replies:\n")
	for _, text := range replies {
		b.WriteString("    - text: " + text + "\n")
	}
	b.WriteString("expect:\n  status: done\n  calls: {at_most: 3}\n")
	return b.String()
}

func (r *repository) write(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.dir, name)
	r.Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(gomega.Succeed())
	r.Expect(os.WriteFile(file, []byte(text), 0o644)).To(gomega.Succeed())
}

func (r *repository) read(name string) string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.dir, name))
	r.Expect(err).NotTo(gomega.HaveOccurred())
	return string(data)
}

// shell runs commands as CI servers do, and returns what they print and whether they
// succeeded.
func (r *repository) shell(commands string, env map[string]string) (string, bool) {
	r.t.Helper()
	cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", commands)
	cmd.Dir, cmd.Env = r.dir, os.Environ()
	for key, value := range env {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	out, err := cmd.CombinedOutput()
	r.t.Logf("$ %s\n%s", commands, out)
	return string(out), err == nil
}

// begin runs the first steps of README.md.
func (r *repository) begin() {
	r.t.Helper()
	r.must("git init --quiet && git config user.name x && git config user.email x@example.com && git config commit.gpgsign false")
	r.must(r.section("Begin"))
	r.Expect(r.output("git status --short --untracked-files=all")).To(gomega.Equal("?? .gitignore\n"))
}

func (r *repository) must(commands string) {
	r.t.Helper()
	_, ok := r.shell(commands, nil)
	r.Expect(ok).To(gomega.BeTrue(), commands)
}

func (r *repository) output(commands string) string {
	r.t.Helper()
	out, ok := r.shell(commands, nil)
	r.Expect(ok).To(gomega.BeTrue(), commands)
	return out
}

// section are the commands in a section of README.md.
func (r *repository) section(title string) string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(ciFolder, "README.md"))
	r.Expect(err).NotTo(gomega.HaveOccurred())
	found := regexp.MustCompile("(?s)\n## " + title + "\n.*?```sh\n(.*?)```").FindSubmatch(data)
	r.Expect(found).NotTo(gomega.BeNil(), title)
	return string(found[1])
}

// github runs the jobs of the workflow. It returns what each step printed, and whether
// all jobs are green.
func (r *repository) github() (map[string]string, bool) {
	r.t.Helper()
	var flow githubWorkflow
	r.parse("github/rehearse.yml", &flow)
	r.Expect(flow.Jobs["comment"].Needs).To(gomega.Equal("rehearse"))
	r.Expect(flow.Jobs["comment"].If).To(gomega.ContainSubstring("!cancelled()"))
	printed, green := map[string]string{}, true
	for _, name := range []string{"rehearse", "comment"} {
		green = r.job(flow.Jobs[name], printed) && green
	}
	return printed, green
}

// job runs the steps of a job and adds what each printed. It returns whether the job is
// green.
func (r *repository) job(job githubJob, printed map[string]string) bool {
	r.t.Helper()
	green := true
	r.Expect(job.Steps).NotTo(gomega.BeEmpty())
	for _, s := range job.Steps {
		if slices.Contains(network, s.Name) {
			continue
		}
		r.Expect(s.Run).NotTo(gomega.BeEmpty(), s.Name)
		if !green && !strings.Contains(s.If, "!cancelled()") {
			continue
		}
		env := map[string]string{"PULL_REQUEST": "7"}
		for key, value := range job.Env {
			env[key] = value
		}
		out, ok := r.shell(s.Run, env)
		printed[s.Name] = out
		green = green && (ok || s.ContinueOnError)
	}
	return green
}

func (r *repository) parse(name string, into any) {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(ciFolder, name))
	r.Expect(err).NotTo(gomega.HaveOccurred())
	r.Expect(yaml.Load(data, into)).To(gomega.Succeed())
}

func TestGitHubWorkflow(t *testing.T) {
	r := newRepository(t)
	r.begin()

	printed, green := r.github()
	r.Expect(green).To(gomega.BeTrue())
	r.Expect(printed["Annotate the scenario files"]).NotTo(gomega.ContainSubstring("::error"))
	summary, err := os.ReadFile(r.summary)
	r.Expect(err).NotTo(gomega.HaveOccurred())
	r.Expect(string(summary)).To(gomega.ContainSubstring("### Comparison with `rehearse.baseline.json`: pass"))
	for _, name := range []string{"report.html", "report.json", "junit.xml", "recording.jsonl", "comparison.json"} {
		r.Expect(filepath.Join(r.dir, "rehearsal", name)).To(gomega.BeARegularFile(), "an artifact")
	}
	posted, err := os.ReadFile(r.posted)
	r.Expect(err).NotTo(gomega.HaveOccurred())
	r.Expect(string(posted)).To(gomega.ContainSubstring("api --method POST repos/acme/agent/issues/7/comments --field body=@rehearsal/comment.md"))

	// The agent takes a call more: within what the scenario demands, and worse than
	// blessed. The comment that is there is replaced.
	r.write("scenarios/greet.yaml", scenarioOf("Not yet.", "DONE"))
	r.Expect(os.WriteFile(r.posted+".known", []byte("4711\n"), 0o644)).To(gomega.Succeed())
	printed, green = r.github()
	r.Expect(green).To(gomega.BeFalse())
	r.Expect(printed["Rehearse against the baseline"]).To(gomega.And(
		gomega.ContainSubstring("greet: calls 1 → 2"), gomega.ContainSubstring("To accept all changes: rehearse bless rehearsal")))
	r.Expect(printed["Annotate the scenario files"]).To(gomega.MatchRegexp(`(?m)^::error file=scenarios/greet.yaml,line=1,title=greet%3A fail::.*calls is worse`))
	r.Expect(r.read("rehearsal/comment.md")).To(gomega.And(gomega.HavePrefix("<!-- rehearse:report -->\n"), gomega.ContainSubstring("#### Worse")))
	posted, err = os.ReadFile(r.posted)
	r.Expect(err).NotTo(gomega.HaveOccurred())
	r.Expect(string(posted)).To(gomega.ContainSubstring("api --method PATCH repos/acme/agent/issues/comments/4711 --field body=@rehearsal/comment.md"))

	// What a scenario demands does not hold: the annotation is at that line.
	r.write("scenarios/greet.yaml", scenarioOf("a", "b", "c", "DONE"))
	printed, green = r.github()
	r.Expect(green).To(gomega.BeFalse())
	r.Expect(printed["Annotate the scenario files"]).To(gomega.ContainSubstring("::error file=scenarios/greet.yaml,line=12,title=greet%3A fail::calls: expected at most 3 calls, saw 4"))

	// Accept the change as README.md describes; then it is green.
	r.write("scenarios/greet.yaml", scenarioOf("Not yet.", "DONE"))
	_, _ = r.shell("set +e\n"+r.section("When it is red"), nil)
	r.Expect(r.output("git diff --stat rehearse.baseline.json")).To(gomega.ContainSubstring("rehearse.baseline.json"))
	_, green = r.github()
	r.Expect(green).To(gomega.BeTrue())

	// Without the baseline it is not.
	r.must("rm rehearse.baseline.json")
	_, green = r.github()
	r.Expect(green).To(gomega.BeFalse())
}

// TestGitHubWorkflowIsWhole checks the text of what only the server can run.
func TestGitHubWorkflowIsWhole(t *testing.T) {
	r := newRepository(t)
	var flow githubWorkflow
	r.parse("github/rehearse.yml", &flow)
	r.Expect(flow.On).To(gomega.HaveKey("pull_request"))
	r.Expect(flow.On).NotTo(gomega.HaveKey("pull_request_target"), "it would run code of a fork with the rights of the repository")
	r.Expect(flow.Permissions).To(gomega.Equal(map[string]string{"contents": "read"}))
	gate := 0
	for _, s := range flow.Jobs["rehearse"].Steps {
		r.Expect(s.Name).NotTo(gomega.BeEmpty())
		r.Expect(s.Run).NotTo(gomega.ContainSubstring("${{"), "text from outside must not become a command")
		if strings.Contains(s.Run, "rehearse run") {
			gate++
			r.Expect(s.ContinueOnError).To(gomega.BeFalse())
			r.Expect(s.If).To(gomega.BeEmpty())
			r.Expect(s.Run).NotTo(gomega.ContainSubstring("||"))
		} else if gate > 0 {
			r.Expect(s.If).To(gomega.ContainSubstring("!cancelled()"), s.Name)
		}
		if s.Name == "Keep the reports" {
			r.Expect(s.With["path"]).To(gomega.Equal("rehearsal"))
		}
	}
	r.Expect(gate).To(gomega.Equal(1))
	for name, job := range flow.Jobs {
		writes := slices.Contains(slices.Collect(maps.Values(job.Permissions)), "write")
		for _, s := range job.Steps {
			if s.Uses != "" {
				r.Expect(s.Uses).To(gomega.MatchRegexp(`@[0-9a-f]{40}$`), "an action is pinned to a commit")
			}
			if strings.Contains(s.Uses, "/checkout@") {
				r.Expect(s.With["persist-credentials"]).To(gomega.Equal("false"))
				r.Expect(writes).To(gomega.BeFalse(), "%s runs the code of a pull request and may write", name)
			}
			r.Expect(writes && strings.Contains(s.Run, "rehearse run")).To(gomega.BeFalse(), name)
		}
	}
}

func TestGitLabPipeline(t *testing.T) {
	r := newRepository(t)
	r.begin()
	var jobs map[string]yaml.Node
	r.parse("gitlab/rehearse.gitlab-ci.yml", &jobs)
	job := func(name string) (j gitlabJob) {
		node := jobs[name]
		r.Expect(node.Load(&j)).To(gomega.Succeed())
		return j
	}
	gate, comment := job("rehearse"), job("rehearse-comment")
	r.Expect(gate.BeforeScript).To(gomega.HaveExactElements(gomega.HavePrefix("go install ")), "only the installation is left out")
	r.Expect(comment.BeforeScript).To(gomega.HaveExactElements(gomega.HavePrefix("apk add ")))
	r.Expect(gate.AllowFailure).To(gomega.BeFalse())
	r.Expect(gate.Artifacts.When).To(gomega.Equal("always"))
	run := func() bool {
		_, green := r.shell(strings.Join(gate.Script, "\n"), gate.Variables)
		_, _ = r.shell(strings.Join(gate.AfterScript, "\n"), gate.Variables)
		for _, path := range append(gate.Artifacts.Paths, gate.Artifacts.Reports["junit"]) {
			r.Expect(filepath.Join(r.dir, path)).To(gomega.Or(gomega.BeAnExistingFile(), gomega.BeADirectory()))
		}
		return green
	}
	r.Expect(run()).To(gomega.BeTrue())
	r.write("scenarios/greet.yaml", scenarioOf("Not yet.", "DONE"))
	r.Expect(run()).To(gomega.BeFalse())
	r.Expect(r.read("rehearsal/junit.xml")).To(gomega.ContainSubstring(`regression: against the baseline: calls is worse`))
	r.Expect(r.read("rehearsal/comment.md")).To(gomega.HavePrefix("<!-- rehearse:report -->\n"))

	env := map[string]string{"CI_API_V4_URL": "https://gitlab.example/api/v4", "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "9"}
	_, ok := r.shell(strings.Join(comment.Script, "\n"), env)
	r.Expect(ok).To(gomega.BeTrue())
	r.Expect(r.posted).NotTo(gomega.BeAnExistingFile(), "without a token nothing is done")
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("this machine has no jq")
	}
	env["REHEARSE_TOKEN"] = "secret"
	for notes, want := range map[string]string{
		`[{"id": 5, "body": "hello"}]`: "--request POST https://gitlab.example/api/v4/projects/3/merge_requests/9/notes --data-urlencode body@rehearsal/comment.md",
		`[{"id": 5, "body": "hello"}, {"id": 6, "body": "<!-- rehearse:report -->\nold"}]`: "--request PUT https://gitlab.example/api/v4/projects/3/merge_requests/9/notes/6 --data-urlencode",
	} {
		r.Expect(os.WriteFile(r.posted+".known", []byte(notes), 0o644)).To(gomega.Succeed())
		_, ok = r.shell(strings.Join(comment.Script, "\n"), env)
		r.Expect(ok).To(gomega.BeTrue())
		posted, err := os.ReadFile(r.posted)
		r.Expect(err).NotTo(gomega.HaveOccurred())
		r.Expect(string(posted)).To(gomega.ContainSubstring(want))
	}
}
