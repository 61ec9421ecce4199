//go:build unix

package action_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
)

// secret is the content of a file outside the workspace, which no action may reach.
const secret = "the secret outside"

// prison is a workspace inside of a folder with a secret, and links that lead out
// of it.
func prison() (outer, inner string) {
	GinkgoHelper()
	outer = GinkgoT().TempDir()
	inner = filepath.Join(outer, "workspace")
	put(outer, "secret.txt", secret)
	put(inner, "a.txt", "inside\n")
	put(inner, "sub/b.txt", "inside, too\n")
	for name, to := range map[string]string{
		"link.txt": "../secret.txt", "up": "..", "sub/up": "../..", "absolute": outer,
		"far": filepath.Join(outer, "secret.txt"), "nowhere": "../not-there", "loop": "loop", "fine.txt": "a.txt",
	} {
		Expect(os.Symlink(filepath.FromSlash(to), filepath.Join(inner, filepath.FromSlash(name)))).To(Succeed())
	}
	return outer, inner
}

// ways are the inputs by which an action can be given a path.
func ways(path string) map[string]string {
	quoted, err := json.Marshal(path) // a JSON string is YAML
	Expect(err).NotTo(HaveOccurred())
	p := string(quoted)
	return map[string]string{
		"analyze":           "target: " + p + "\nfocus: content",
		"search":            "query: .\nscope: " + p,
		"generate":          "type: text\nspec: overwritten\npath: " + p,
		"validate":          "assertion: 'contains: e'\ndata: " + p,
		"validate exists":   "assertion: exists\ndata: " + p,
		"transform":         "from: lines\nto: json\ninput: " + p,
		"transform to file": "from: lines\nto: json\ninput: a.txt\noutput: " + p,
		"compare":           "a: a.txt\nb: " + p,
		"compare with":      "a: " + p + "\nb: a.txt",
	}
}

// contents are all files below a folder, by their names.
func contents(folder string) map[string]string {
	all := make(map[string]string)
	Expect(filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			data, err := os.ReadFile(path)
			all[path] = string(data)
			return err
		}
		return err
	})).To(Succeed())
	return all
}

var _ = Describe("the workspace", Label("R-05"), func() {
	for _, path := range []string{"../secret.txt", "sub/../../secret.txt", "/etc/passwd", "link.txt", "up/secret.txt", "sub/up/secret.txt", "absolute/secret.txt", "far", "..", "up"} {
		It("is not left by "+path, func() {
			outer, inner := prison()
			set := open(inner)
			for way, input := range ways(path) {
				id, _, _ := strings.Cut(way, " ")
				r := do(set, id, input)
				Expect(r.Rule).To(Equal("outside-workspace"), "%s: %s", way, r.Observation)
				Expect(r.Failed).To(BeTrue())
				Expect(r.Observation).NotTo(ContainSubstring(secret))
				Expect(r.Observation).NotTo(ContainSubstring(outer), "where the workspace is, is nobody's business")
				Expect(r.Written).To(BeEmpty())
			}
			Expect(contents(outer)).To(HaveKeyWithValue(filepath.Join(outer, "secret.txt"), secret))
			Expect(contents(outer)).To(HaveLen(3), "nothing new")
		})
	}

	It("reports whether the path or a link leads out", func() {
		_, inner := prison()
		Expect(do(open(inner), "analyze", "target: ../secret.txt").Observation).To(Equal(`outside-workspace: "../secret.txt" is outside the workspace; name a path in it, such as src/main.py`))
		Expect(do(open(inner), "analyze", "target: link.txt").Observation).To(Equal(`outside-workspace: "link.txt" leads out of the workspace by a link`))
	})

	It("is shared by several agents at once: files are written whole, and each agent sees its own results", func() {
		folder := workspace("a.txt", "x\n")
		set := open(folder)
		var writers sync.WaitGroup
		for i := range 8 {
			writers.Go(func() {
				defer GinkgoRecover()
				text := strings.Repeat(strconv.Itoa(i), 10_000)
				Expect(do(set, "generate", "{type: text, path: a.txt, spec: '"+text+"'}").Written).To(Equal([]string{"a.txt"}))
				Expect(do(set, "search", "query: x|0|1|2|3|4|5|6|7").Observation).To(ContainSubstring("in 1 file: 1"))
			})
		}
		writers.Wait()
		data, err := os.ReadFile(filepath.Join(folder, "a.txt"))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(data)).To(Equal(strings.Repeat(string(data[0]), 10_000)))
	})

	It("may be spoken of by links that stay in it, and by .. that comes back", func() {
		_, inner := prison()
		for _, path := range []string{"fine.txt", "sub/../a.txt", "./a.txt", "sub//../a.txt"} {
			Expect(do(open(inner), "search", "query: inside\nscope: "+path).Observation).To(ContainSubstring(":1: inside"))
		}
	})

	It("is looked at as a whole without following links", func() {
		_, inner := prison()
		r := do(open(inner), "search", "query: secret|inside\nscope: full")
		Expect(r.Observation).To(Equal(`lines with the expression "secret|inside" in 2 files: 2
a.txt:1: inside
sub/b.txt:1: inside, too
passed over: 8
absolute: a link, not followed
far: a link, not followed
fine.txt: a link, not followed
link.txt: a link, not followed
loop: a link, not followed
nowhere: a link, not followed
sub/up: a link, not followed
up: a link, not followed`))
		Expect(r.Read).To(Equal([]string{"a.txt", "sub/b.txt"}))
	})

	DescribeTable("names what else is wrong with a path",
		func(path, rule string) {
			_, inner := prison()
			put(inner, "picture.png", "\x89PNG\x00")
			put(inner, "latin.txt", "caf\xe9")
			put(inner, "large.txt", strings.Repeat("x", 4<<20+1))
			Expect(syscall.Mkfifo(filepath.Join(inner, "pipe"), 0o644)).To(Succeed())
			r := do(open(inner), "analyze", "target: "+path+"\nfocus: content")
			Expect(r.Rule).To(Equal(rule), r.Observation)
			r = do(open(inner), "compare", "a: "+path+"\nb: a.txt")
			Expect(r.Rule).To(Equal(rule), r.Observation)
		},
		Entry("not there", "none.txt", "no-such-file"),
		Entry("below a file", "a.txt/b", "not-a-file"),
		Entry("binary", "picture.png", "binary-file"),
		Entry("not UTF-8", "latin.txt", "binary-file"),
		Entry("too large", "large.txt", "too-large"),
		Entry("a pipe that nobody writes to", "pipe", "not-a-file"),
		Entry("a link to itself", "loop", "file-system"),
		Entry("a NUL in it", `"a\0b"`, action.RuleBadInput),
	)

	It("lists no more of a folder than fits, in bounded time", func() {
		folder := workspace()
		for i := range 120 {
			put(folder, "f"+strings.Repeat("0", i)+".txt", strings.Repeat("word ", 60)+"\n")
		}
		r := do(open(folder), "search", "query: word\nscope: full")
		Expect(len(r.Observation)).To(BeNumerically("<", 8300))
		Expect(r.Observation).To(MatchRegexp(`\n… \d+ more lines$`))

		many := workspace()
		for i := range 10_001 { // links are made fast
			Expect(os.Symlink("x", filepath.Join(many, strconv.Itoa(i)))).To(Succeed())
		}
		Expect(do(open(many), "analyze", "target: full").Rule).To(Equal("too-many"))
	})

	It("keeps what must not be changed: .git, and what the agent's commands name", func() {
		folder := workspace("tools/run.sh", "echo fine\n", ".git/config", "[core]\n")
		a := shell("true")
		a.Command = []string{"sh", "tools/run.sh"}
		set := open(folder, a)
		for _, path := range []string{
			"tools/run.sh", "tools/../tools/run.sh", "Tools/run.sh", ".git/hooks/pre-commit", "sub/.git/config", ".GIT/config",
			".github/workflows/x.yml", ".claude/settings.json", "web/.vscode/tasks.json", ".husky/pre-commit", ".envrc", ".GitLab-CI.yml", "agents/auditor.agent.md",
		} {
			Expect(do(set, "generate", "type: text\nspec: x\npath: "+path).Rule).To(Equal("protected"), path)
		}
		for link, to := range map[string]string{"t": "tools", "sub2": "sub3", "g": ".git", "run": "tools/run.sh"} {
			Expect(os.Symlink(to, filepath.Join(folder, link))).To(Succeed())
		}
		Expect(os.Mkdir(filepath.Join(folder, "sub3"), 0o755)).To(Succeed())
		for _, path := range []string{"t/run.sh", "g/hooks/pre-commit", "sub2/new/x"} {
			Expect(do(set, "generate", "type: text\nspec: x\npath: "+path).Rule).To(Equal("protected"), path)
		}
		Expect(do(set, "generate", "type: text\nspec: x\npath: run").Failed).To(BeFalse(), "the link is replaced, not what it leads to")
		Expect(do(set, "own", "").Observation).To(Equal("exit status 0\nfine"))
	})

	It("cannot be left by any path", func() {
		outer, inner := prison()
		set := open(inner)
		before := contents(outer)
		part := rapid.SampledFrom([]string{"..", ".", "", "a.txt", "sub", "up", "absolute", "far", "link.txt", "nowhere", "loop", "new", outer, "secret.txt", "~", "*", "**", "workspace", "\\", "%2e%2e", "…"})
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			path := strings.Join(rapid.SliceOfN(part, 1, 6).Draw(t, "parts"), "/")
			for way, input := range ways(path) {
				id, _, _ := strings.Cut(way, " ")
				r, err := set.Do(context.Background(), id, input)
				if err != nil || strings.Contains(strings.ReplaceAll(r.Observation, path, ""), secret) {
					t.Fatalf("%s %q: %v %s", way, path, err, r.Observation)
				}
				for _, name := range append(r.Read, r.Written...) {
					if !filepath.IsLocal(name) {
						t.Fatalf("%s %q: says that it used %s", way, path, name)
					}
				}
			}
		})
		for path, content := range contents(outer) {
			if !strings.HasPrefix(path, inner) {
				Expect(before).To(HaveKeyWithValue(path, content))
			}
		}
	})

	It("cannot be left by a link that is made while actions run", func() {
		outer, inner := prison()
		put(outer, "sub/b.txt", secret)
		set := open(inner)
		stop := make(chan struct{})
		var swapping sync.WaitGroup
		swapping.Go(func() {
			sub, aside := filepath.Join(inner, "sub"), filepath.Join(inner, "aside")
			for {
				select {
				case <-stop:
					return
				default:
				}
				_ = os.Rename(sub, aside)
				_ = os.Symlink(filepath.Join(outer, "sub"), sub)
				_ = os.Remove(sub)
				_ = os.Rename(aside, sub)
			}
		})
		for range 100 {
			for way, input := range ways("sub/b.txt") {
				id, _, _ := strings.Cut(way, " ")
				Expect(do(set, id, input).Observation).NotTo(ContainSubstring(secret), way)
			}
		}
		close(stop)
		swapping.Wait()
		Expect(os.ReadFile(filepath.Join(outer, "sub/b.txt"))).To(BeEquivalentTo(secret))
	})
})

var _ = Describe("New", func() {
	It("reports errors of the folder", func() {
		_, err := action.New(&agentfile.Agent{}, action.Options{})
		Expect(err).To(MatchError("open the workspace: no folder is given; name one"))
		_, err = action.New(&agentfile.Agent{}, action.Options{Workspace: filepath.Join(GinkgoT().TempDir(), "none")})
		Expect(err).To(MatchError(os.ErrNotExist))
		_, err = action.New(&agentfile.Agent{}, action.Options{Workspace: filepath.Join(workspace("a", "x"), "a")})
		Expect(err).To(HaveOccurred())
	})

	It("sees that the folder goes away later", func() {
		folder := workspace("a.txt", "x")
		set := open(folder)
		Expect(os.RemoveAll(folder)).To(Succeed())
		r := do(set, "analyze", "target: full")
		Expect(r.Observation).To(Equal("file-system: the workspace cannot be opened: no such file or directory"))
	})
})
