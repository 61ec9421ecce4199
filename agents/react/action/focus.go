package action

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// focus is a topic to search for. Its signs are patterns of lines, which do not recognise comments,
// strings or data flow.
type focus struct {
	names []string // the first one is offered
	signs func() []sign
}

// signs compiles pairs of a name and a pattern at the first use.
func signs(pairs ...string) func() []sign {
	return sync.OnceValue(func() []sign {
		var all []sign
		for i := 0; i+1 < len(pairs); i += 2 {
			all = append(all, newSign(pairs[i], regexp.MustCompile(pairs[i+1])))
		}
		return all
	})
}

var focuses = []focus{
	{[]string{"security_patterns", "security", "sécurité", "securite", "vulnerabilities"}, signs(
		"eval", `\b(?:eval|exec|execScript)\s*\(|new\s+Function\s*\(`,
		"markup-from-data", `\.(?:innerHTML|outerHTML)\s*\+?=|insertAdjacentHTML\s*\(|document\.write(?:ln)?\s*\(|dangerouslySetInnerHTML`,
		"sql-from-text", `(?i)\b(?:select\b.*\bfrom|insert\s+into|update\b.*\bset|delete\s+from)\b.*`+
			`(?:["'`+"`"+`]\s*(?:\+|%|\.\s*format)|\$\{|#\{|%s)`,
		"shell", `shell\s*=\s*True|\bos\.(?:system|popen)\s*\(|child_process|Runtime\.getRuntime\(\)\.exec|exec\.Command\(\s*"(?:sh|bash)"`,
		"secret", `(?i)\b\w*(?:password|passwd|secret|token|api_?key|private_?key)\w*["']?\s*[:=]\s*["'][^"']{8,}["']|`+
			`-----BEGIN [A-Z ]*PRIVATE KEY-----`,
		"weak-hash", `(?i)\b(?:md5|sha1)\b\s*[.(]|hashlib\.(?:md5|sha1)`,
		"weak-random", `Math\.random\s*\(|\brandom\.(?:random|randint|choice|randrange)\s*\(|"math/rand"`,
		"deserialise", `\bpickle\.loads?\s*\(|\byaml\.(?:load|unsafe_load)\s*\(|\bunserialize\s*\(|ObjectInputStream|\bmarshal\.loads\s*\(`,
		"no-tls-check", `verify\s*=\s*False|InsecureSkipVerify:\s*true|rejectUnauthorized:\s*false|CURLOPT_SSL_VERIFYPEER,\s*(?:0|false)`,
		"path-from-data", `\.\./\.\./|\b(?:open|readFile|readFileSync|send_file|sendFile)\s*\([^)"']*(?:req\.|request\.|params|argv|input\()`,
	)},
	{[]string{"todos", "todo", "tâches", "taches"}, signs("todo", `\b(?:TODO|FIXME|XXX|HACK)\b`)},
	{[]string{"tests", "test"}, signs(
		"test", `^\s*(?:async\s+)?def\s+test_\w+|^func\s+(?:Test|Fuzz|Benchmark)\w+|^\s*(?:it|test|describe|It|Describe)\s*\(|#\[test\]|@Test\b`,
		"skipped", `(?i)\b(?:x?it|test|describe)\.skip\b|\bx(?:it|describe)\s*\(|`+
			`@(?:unittest\.|pytest\.mark\.)?skip|\bt\.Skip|@Disabled|@Ignore\b|#\[ignore`,
	)},
	{[]string{"imports", "dependencies", "dépendances", "dependances"}, signs(
		"import", `^\s*(?:import\b|from\s+\S+\s+import\b|use\s+[\w:]+|#include\b|`+
			`require(?:_once)?\b|(?:const|let|var)\s+.*\brequire\s*\()|^\s*"[\w./-]+"$`,
	)},
	{[]string{"errors", "error_handling", "erreurs"}, signs(
		"ignored", `except\s*:\s*(?:pass)?\s*$|catch\s*(?:\([^)]*\))?\s*\{\s*\}|\b_\s*=\s*\w+\.\w+\(|\.unwrap\(\)`,
		"raised", `\braise\b|\bthrow\b|\bpanic\s*\(|return\s+.*\berr\b|errors\.New|fmt\.Errorf`,
	)},
}

// The focuses without signs: the parts of files, and their content.
var (
	structureNames = []string{"structure", "outline", "functions", "headings"}
	contentNames   = []string{"content", "text", "contenu", "texte"}
	lineRange      = lazyregexp.New(`(?i)^(?:lines|lignes)\s+(\d{1,7})(?:\s*(?:-|to|à)\s*(\d{1,7}))?$`)
)

// focusNames returns the names of the focuses, for the agent.
func focusNames() []string {
	all := []string{contentNames[0], "lines 10-20", structureNames[0]}
	for _, f := range focuses {
		all = append(all, f.names[0])
	}
	return all
}

func focusOf(name string) (focus, bool) {
	i := slices.IndexFunc(focuses, func(f focus) bool { return slices.ContainsFunc(f.names, sameWord(name)) })
	if i < 0 {
		return focus{}, false
	}
	return focuses[i], true
}

// sameWord compares without case, and treats "_", "-" and " " as equal.
func sameWord(a string) func(string) bool {
	fold := func(s string) string {
		return strings.ToLower(strings.NewReplacer("-", "_", " ", "_").Replace(strings.TrimSpace(s)))
	}
	return func(b string) bool { return fold(a) == fold(b) }
}
