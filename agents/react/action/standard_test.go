package action_test

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/action"
)

var _ = Describe("Describe", func() {
	It("lists the nine standard actions and the agent's own, with what they take", Label("R-05"), func() {
		set, _ := example("test-triage")
		text := set.Describe()
		for _, id := range []string{
			"analyze {target, focus}", "search {query, scope}", "generate {type, spec, path}", "validate {assertion, data}",
			"transform {input, from, to, output}", "compare {a, b, criteria}", "request_info {question, context}", "delegate {agent_id, task}",
			"escalate {reason, context}", "extraire {rapport, test}",
		} {
			Expect(text).To(MatchRegexp(`(?m)^- ` + strings.NewReplacer("{", `\{`, "}", `\}`).Replace(id) + `: \S`))
		}
		Expect(strings.Count(text, "\n- ")).To(Equal(9))
		Expect(text).To(ContainSubstring("    test: Le nom du test.\n"))
	})
})

var _ = Describe("Do", Label("R-05"), func() {
	DescribeTable("checks inputs",
		func(id, input, want string) {
			r := do(open(workspace("a.txt", "x\n")), id, input)
			Expect(r.Failed).To(BeTrue())
			Expect(r.Observation).To(Equal(want))
			Expect(r.Observation).To(HavePrefix(r.Rule + ": "))
		},
		Entry("unknown action", "analyse", "target: a.txt", `unknown-action: there is no action "analyse" (did you mean "analyze"?)`),
		Entry("nothing near", "fly", "", `unknown-action: there is no action "fly"; there are analyze, search, generate, validate, transform, compare, request_info, delegate, escalate`),
		Entry("the engine's", "delegate", "agent_id: x\ntask: y", `engine-action: delegate is done by the engine, not on the workspace`),
		Entry("no input", "analyze", "", `bad-input: input:1:1: the key "target" is missing`),
		Entry("unknown key", "search", "query: x\nscop: full", `bad-input: input:2:1: unknown key "scop" (did you mean "scope"?)`),
		Entry("no mapping", "search", "- x", `bad-input: input:1:1: found a list; expected a mapping`),
		Entry("empty query", "search", "query: ' '", `bad-input: the query is empty`),
		Entry("long query", "search", "query: "+strings.Repeat("x", 1001), `bad-input: the query has 1001 bytes; at most 1000 are allowed`),
		Entry("empty path", "compare", "{a: '', b: a.txt}", `bad-input: the path is empty`),
		Entry("a pattern that is none", "search", "{query: x, scope: 'a**b/*'}", `bad-input: the pattern "a**b/*" has ** beside other text; it stands alone between slashes, such as src/**/*.go`),
		Entry("no path for a type", "generate", "{type: pythno, spec: x}", `bad-input: there is no default path for the type "pythno" (did you mean "python"?); say path`),
		Entry("no path for a strange type", "generate", "{type: code, spec: x}", `bad-input: there is no default path for the type "code"; say path, or one of changelog, csv, go, html, javascript, json, markdown, python, readme, report, shell, sql, text, typescript, yaml`),
		Entry("a structure as text", "generate", "{type: text, spec: [x]}", `bad-input: spec is not text; write the whole content of the file, such as with "spec: |"`),
		Entry("JSON that is none", "generate", "{type: json, spec: '{\"a\": }'}", `bad-content: spec is not json: missing value after object name within "/a" after offset 6`),
		Entry("an unknown format", "transform", "{input: a.txt, from: yamll, to: json}", `bad-input: the format "yamll" is not known (did you mean "yaml"?)`),
		Entry("a format far from all", "transform", "{input: a.txt, from: lines, to: docx}", `bad-input: the format "docx" is not known; there are csv, json, lines, markdown, yaml`),
		Entry("an expression that is none", "validate", "{assertion: 'matches: (', data: a.txt}", `bad-input: "(" is not a regular expression: missing closing )`),
	)

	It("makes control characters visible", func() {
		folder := workspace("a.txt", "red \x1b[31m\u202e here\n")
		for _, input := range []string{"target: a.txt\nfocus: content", "target: a.txt\nfocus: red here"} {
			Expect(do(open(folder), "analyze", input).Observation).To(ContainSubstring(`a.txt:1: red \x1b[31m\u202e here`))
		}
	})
})

var _ = Describe("analyze", Label("R-05"), func() {
	It("reports size, lines, languages and parts, for any line ends", func() {
		folder := workspace("src/a.py", "class A:\r\n    def b(self):\r\n        pass\r\n", "b.go", "package b\n\nfunc (x *T) C() {}\n\ntype D int", "c.md", "# Title\n\n## Part\n", "d.dat", "", "img.png", "\x00")
		r := do(open(folder), "analyze", "target: full")
		Expect(r.Observation).To(Equal(`full: 4 files, 11 lines, 100 bytes
languages by extension: Go 5 lines in 1 file; Markdown 3 lines in 1 file; Python 3 lines in 1 file; other 0 lines in 1 file
files: 4
b.go: 5 lines, Go
c.md: 3 lines, Markdown
d.dat: 0 lines, other
src/a.py: 3 lines, Python
passed over: 1
img.png: not text`))
		Expect(r.Read).To(Equal([]string{"b.go", "c.md", "d.dat", "src/a.py"}))
		Expect(do(open(folder), "analyze", "{target: ., focus: structure}").Observation).To(ContainSubstring(
			"parts: 6\nb.go:3: C\nb.go:5: D\nc.md:1: Title\nc.md:3: Part\nsrc/a.py:1: A\nsrc/a.py:2: b\n"))
		Expect(do(open(folder), "analyze", "target: b.go").Observation).To(HaveSuffix("parts: 2\nb.go:3: C\nb.go:5: D"))
	})

	It("finds no parts where a language has none, or is not known", func() {
		folder := workspace("a.go", "type A int\n", "b.json", "{}\n", "c.dat", "type C int\n")
		Expect(do(open(folder), "analyze", "{target: full, focus: structure}").Observation).To(HaveSuffix("parts: 1\na.go:1: A"))
	})

	It("finds the flaws of the example in two languages, and what only looks like one", func() {
		set, _ := example("security-audit")
		r := do(set, "analyze", "{target: code, focus: security patterns}")
		for _, want := range []string{
			"server/app.py:14: [sql-from-text]", "server/app.py:32: [shell]", "server/app.py:42: [eval]",
			"server/settings.py:10: [secret]", "web/cart.js:17: [markup-from-data]", "web/cart.js:22: [weak-random]",
		} {
			Expect(r.Observation).To(ContainSubstring("\n" + want))
		}
		Expect(r.Observation).To(ContainSubstring("not told apart): 13\n"))
		Expect(r.Observation).NotTo(Or(ContainSubstring("app.py:20"), ContainSubstring("settings.py:7"), ContainSubstring("app.py:37")), "a parameter, the environment, a fixed command")
	})

	DescribeTable("looks for a focus",
		func(focus, want string) {
			folder := workspace("t.py", "import os\n# TODO: more\ndef test_a():\n    raise ValueError\n", "x.go", "func TestB(t *testing.T) {\n\tt.Skip()\n}\n")
			Expect(do(open(folder), "analyze", "{target: full, focus: "+focus+"}").Observation).To(HaveSuffix(want))
		},
		Entry("todos", "TODOs", ": 1\nt.py:2: [todo] # TODO: more"),
		Entry("tests", "tests", ": 3\nt.py:3: [test] def test_a():\nx.go:1: [test] func TestB(t *testing.T) {\nx.go:2: [skipped] t.Skip()"),
		Entry("imports", "dependencies", ": 1\nt.py:1: [import] import os"),
		Entry("errors", "error-handling", ": 1\nt.py:4: [raised] raise ValueError"),
		Entry("in French", "sécurité", ": none"),
		Entry("words", "valueerror raise", "the focus \"valueerror raise\" is not one of content, lines 10-20, structure, security_patterns, todos, tests, imports, errors; its words are looked for\nlines with the words \"valueerror raise\": 1\nt.py:4: raise ValueError"),
		Entry("some lines", "lines 2-3", "t.py:2: # TODO: more\nt.py:3: def test_a():\nx.go:2: \tt.Skip()\nx.go:3: }"),
		Entry("one line", "lignes 4", "\nt.py:4:     raise ValueError"),
		Entry("lines that are not there", "lines 900", "\nthere are no such lines"),
	)

	It("skips folders of version control and dependencies", func() {
		folder := workspace("a.txt", "x", ".git/config", "x", "node_modules/m/i.js", "x", "sub/.venv/y", "x")
		Expect(do(open(folder), "analyze", "target: full").Observation).To(HaveSuffix("passed over: 3\n.git: not looked at\nnode_modules: not looked at\nsub/.venv: not looked at"))
	})
})

var _ = Describe("search", Label("R-05"), func() {
	DescribeTable("finds lines",
		func(query, scope, want string) {
			folder := workspace("src/a.py", "Eval(x)\nother\n", "src/sub/b.py", "x = eval(y) # other\n", "c.txt", "a.b eval(\n")
			r := do(open(folder), "search", "query: '"+query+"'\nscope: "+scope)
			Expect(r.Failed).To(BeFalse(), r.Observation)
			_, lines, _ := strings.Cut(r.Observation, ": ")
			Expect(strings.TrimSpace(lines)).To(Equal(want))
		},
		Entry("an expression, without case", "ev.l", "full", "3\nc.txt:1: a.b eval(\nsrc/a.py:1: Eval(x)\nsrc/sub/b.py:1: x = eval(y) # other"),
		Entry("words, all of them", "other eval", "full", "1\nsrc/sub/b.py:1: x = eval(y) # other"),
		Entry("in a folder", "eval", "src", "2\nsrc/a.py:1: Eval(x)\nsrc/sub/b.py:1: x = eval(y) # other"),
		Entry("in a file", "eval", "src/a.py", "1\nsrc/a.py:1: Eval(x)"),
		Entry("in a pattern", "eval", `"**/*.py"`, "2\nsrc/a.py:1: Eval(x)\nsrc/sub/b.py:1: x = eval(y) # other"),
		Entry("in a pattern of one folder", "eval", `"src/*.py"`, "1\nsrc/a.py:1: Eval(x)"),
		Entry("nowhere", "nothing", "full", "none"),
		Entry("everywhere, if no scope is given", "other", "''", "2\nsrc/a.py:2: other\nsrc/sub/b.py:1: x = eval(y) # other"),
	)

	It("searches for the text if the query is not an expression, and reports it", func() {
		r := do(open(workspace("a.txt", "EVAL(x)\n")), "search", "query: eval(")
		Expect(r.Observation).To(Equal("\"eval(\" is not a regular expression (missing closing )); it is searched for literally\nlines with the text \"eval(\" in 1 file: 1\na.txt:1: EVAL(x)"))
	})

	It("shows a hundred lines, each cut, and the number of further ones", func() {
		folder := workspace("a.txt", strings.Repeat("word\n", 250), "b.txt", strings.Repeat("long ", 1000))
		Expect(do(open(folder), "search", "query: word").Observation).To(And(HaveSuffix("a.txt:100: word\n… 150 more"), ContainSubstring(": 250\n")))
		Expect(do(open(folder), "search", "query: long").Observation).To(HaveSuffix("long long…"))
	})
})

var _ = Describe("generate", Label("R-05"), func() {
	It("writes a file as a whole and reports it", func() {
		folder := workspace()
		set := open(folder)
		r := do(set, "generate", "type: report\nspec: |\n  # One\n  two\npath: out/deep/r.md")
		Expect(r).To(Equal(action.Result{
			Observation: "wrote out/deep/r.md: 10 bytes, 2 lines, sha256 4c3722190f869dc7f409370775827dcf326b9c68651e1c45785d8be5d858a9bb",
			Written:     []string{"out/deep/r.md"},
		}))
		Expect(os.ReadFile(filepath.Join(folder, "out/deep/r.md"))).To(BeEquivalentTo("# One\ntwo\n"))
		r = do(set, "generate", "type: report\nspec: x\npath: out/deep/r.md")
		Expect(r.Observation).To(HaveSuffix("; it replaced a file of 10 bytes"))
		entries, err := os.ReadDir(filepath.Join(folder, "out/deep"))
		Expect(err).NotTo(HaveOccurred())
		Expect(entries).To(HaveLen(1), "nothing partial is left")
	})

	It("knows where files of a type go, and writes structures as what they are", func() {
		folder := workspace()
		set := open(folder)
		Expect(do(set, "generate", "{type: MD, spec: x}").Written).To(Equal([]string{"output.md"}))
		Expect(do(set, "generate", "{type: changelog, spec: x}").Written).To(Equal([]string{"CHANGELOG.md"}))
		Expect(do(set, "generate", "type: json\nspec: {b: 1, a: [x]}").Written).To(Equal([]string{"output.json"}))
		Expect(os.ReadFile(filepath.Join(folder, "output.json"))).To(BeEquivalentTo("{\n  \"a\": [\n    \"x\"\n  ],\n  \"b\": 1\n}\n"))
		Expect(do(set, "generate", "type: csv\nspec: [{b: 1, a: x}, {a: y}]").Failed).To(BeFalse())
		Expect(os.ReadFile(filepath.Join(folder, "output.csv"))).To(BeEquivalentTo("a,b\nx,1\ny,\n"))
	})

	It("replaces a file or nothing, and no folder", func() {
		folder := workspace("sub/a.txt", "x")
		Expect(do(open(folder), "generate", "{type: text, spec: x, path: sub}").Rule).To(Equal("not-a-file"))
		Expect(do(open(folder), "generate", "{type: text, spec: x, path: sub/a.txt/b}").Rule).To(Equal("not-a-file"))
	})
})

var _ = Describe("validate", Label("R-05"), func() {
	DescribeTable("decides what it can",
		func(assertion, data, want string) {
			folder := workspace("a.txt", "one\ntwo\n", "d.json", `{"a": [1, {"b.c": "x"}], "n": 1.50, "big": 9007199254740993, "t": true, "z": null}`,
				"bad.json", `{"a": 1, "a": 2}`, "e.yaml", "k: [v]\n", "f.csv", "a,b\n1\n", "empty.txt", "")
			r := do(open(folder), "validate", "assertion: '"+assertion+"'\ndata: "+data)
			Expect(r.Observation).To(Equal(want))
			Expect(r.Failed).To(BeFalse())
		},
		Entry("there", "exists", "a.txt", "true: a.txt has 8 bytes"),
		Entry("not there", "exists", "b.txt", "false: there is no b.txt"),
		Entry("not there, as wanted", "not exists", "b.txt", "true: there is no b.txt"),
		Entry("there, unwanted", "not exists", ".", "false: . is a folder"),
		Entry("holds", "contains: wo", "a.txt", "true: a.txt has the text \"wo\" on line 2"),
		Entry("does not hold", "Contains: three", "a.txt", "false: a.txt does not have the text \"three\""),
		Entry("is not to hold", "not contains: one", "a.txt", "false: a.txt has the text \"one\" on line 1"),
		Entry("matches a line", "matches: ^t.o$", "a.txt", "true: a.txt has a match of \"^t.o$\" on line 2"),
		Entry("is not to match", "not matches: ^x", "a.txt", "true: a.txt does not have a match of \"^x\""),
		Entry("in a text", "contains: b", "'text: abc'", "true: the text has the text \"b\" on line 1"),
		Entry("valid", "valid json", "d.json", "true: d.json is valid json"),
		Entry("twice the same key", "valid: json", "bad.json", `false: bad.json is not valid json: duplicate object member name "a"`),
		Entry("nothing is no JSON", "valid json", "empty.txt", "false: empty.txt is not valid json: there is no value"),
		Entry("two values", "valid json", `"[1] [2]"`, "false: the text is not valid json: there is more than one value"),
		Entry("YAML", "valid yaml", "e.yaml", "true: e.yaml is valid yaml"),
		Entry("CSV with a short row", "valid csv", "f.csv", "false: f.csv is not valid csv: record on line 2: wrong number of fields"),
		Entry("a value", `value: a[1]["b.c"] == x`, "d.json", `true: a[1]["b.c"] of d.json is "x"`),
		Entry("a value that is another", `json: a[0] == "1"`, "d.json", `false: a[0] of d.json is 1`),
		Entry("a number, however written", "value: n == 1.5", "d.json", "true: n of d.json is 1.50"),
		Entry("a number that is larger", "value: n > 1", "d.json", "true: n of d.json is 1.50"),
		Entry("large numbers, exactly", "value: big == 9007199254740992", "d.json", "false: big of d.json is 9007199254740993"),
		Entry("truth", "value: t != false", "d.json", "true: t of d.json is true"),
		Entry("nothing", "value: z == null", "d.json", "true: z of d.json is null"),
		Entry("a value that is not there is not unequal either", "value: q != 1", "d.json", "false: d.json has no q"),
		Entry("an index behind the end", "value: a[2] == 1", "d.json", "false: d.json has no a[2]"),
		Entry("an index without its end", "value: a[0 == 1", "d.json", "false: d.json has no a[0"),
		Entry("an index below the first", "value: a[-1] == 1", "d.json", "false: d.json has no a[-1]"),
		Entry("an index that is no number", "value: a[x] == 1", "d.json", "false: d.json has no a[x]"),
		Entry("an index into what is no list", "value: n[0] == 1", "d.json", "false: d.json has no n[0]"),
		Entry("of YAML", "value: k[0] == v", "e.yaml", `true: k[0] of e.yaml is "v"`),
		Entry("of numbers that are equal as float64", "value: x == 9007199254740993.4", `'{"x": 9007199254740993.5}'`,
			"false: x of the text is 9007199254740993.5"),
		Entry("of the data itself", "value: x.y >= 2", "{x: {y: 2}}", "true: x.y of the text is 2"),
		Entry("a count", "count: ^[ot] >= 2", "a.txt", `true: 2 lines with a match of "^[ot]" in a.txt`),
		Entry("lines", "lines == 2", "a.txt", "true: a.txt has 2 lines"),
		Entry("fewer lines", "lines < 2", "a.txt", "false: a.txt has 2 lines"),
	)

	DescribeTable("is never true if it cannot be decided",
		func(assertion, data, rule string) {
			folder := workspace("a.txt", "one\n", "d.json", `{"s": "x", "n": 9007199254740993.5}`)
			r := do(open(folder), "validate", "assertion: '"+assertion+"'\ndata: "+data)
			Expect(r.Failed).To(BeTrue(), r.Observation)
			Expect(r.Rule).To(Equal(rule))
		},
		Entry("prose", "the code is safe", "a.txt", "undecidable"),
		Entry("prose with a form in it", "a.txt exists and is good", "a.txt", "undecidable"),
		Entry("a text against a number", "value: s > 1", "d.json", "undecidable"),
		Entry("numbers with too many digits", "value: n == "+strings.Repeat("9", 101), "d.json", "undecidable"),
		Entry("numbers with too large exponents", "value: n < 1e99999999999", "d.json", "undecidable"),
		Entry("no JSON", "value: s == x", "'text: [1'", "bad-content"),
		Entry("absence in a file that is not there", "not contains: x", "b.txt", "no-such-file"),
		Entry("absence outside", "not exists", "../b.txt", "outside-workspace"),
	)
})

var _ = Describe("compare", Label("R-05"), func() {
	DescribeTable("compares",
		func(criteria, want string) {
			folder := workspace("a.txt", "one\ntwo\nthree\n", "b.txt", "one\n2\nthree\n", "c.txt", "one\ntwo\nthree\n",
				"a.json", `{"a": {"b": [{"c": 1}]}, "d": 2}`, "b.yaml", "a: {b: [{c: 3, e: 4}]}\n")
			Expect(do(open(folder), "compare", criteria).Observation).To(Equal(want))
		},
		Entry("lines", "{a: a.txt, b: b.txt}", "different: 1 line only in a.txt, 1 line only in b.txt\n--- a.txt\n+++ b.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"),
		Entry("the same", "{a: a.txt, b: c.txt, criteria: diff}", "equal: a.txt and c.txt have the same 14 bytes, sha256 b6285c57e8797db5d4c51c80d6f11938afda9b11c6a003549709189e9b4b92a2"),
		Entry("equality", "{a: a.txt, b: b.txt, criteria: equal}", "different: a.txt has 14 bytes, sha256 b6285c57e8797db5d4c51c80d6f11938afda9b11c6a003549709189e9b4b92a2; b.txt has 12 bytes, sha256 bc85caa9b61bcf3a54ccfc800e2b0eda6c11fa5df4e0481c896d31cda2462eb2; they differ from line 2 on"),
		Entry("keys", "{a: a.json, b: b.yaml, criteria: keys}", "different keys\nonly in a.json: 1\nd\nonly in b.yaml: 1\na.b[].e"),
		Entry("keys of texts", "a: '{x: 1}'\nb: '{x: 2}'\ncriteria: keys", "equal: the text (a) and the text (b) have the same 1 key (values were not compared)"),
		Entry("words", "{a: a.txt, b: b.txt, criteria: mots}", "words only in a.txt: 1\ntwo\nwords only in b.txt: 1\n2"),
		Entry("unknown", "{a: a.txt, b: c.txt, criteria: beauty}", "the criterion \"beauty\" is not one of lines, equal, keys, words; compared by lines\nequal: a.txt and c.txt have the same 14 bytes, sha256 b6285c57e8797db5d4c51c80d6f11938afda9b11c6a003549709189e9b4b92a2"),
	)
})
