package action

import (
	"path"
	"regexp"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// language is a programming language with the pattern of lines that begin a part, such as a function or
// a section. The last group that matches is the name of the part.
type language struct {
	name    string
	outline func() *regexp.Regexp // nil if the language does not have parts
}

// braces matches parts of languages with a syntax like that of C, Java or Rust.
var braces = lazyregexp.New(`^\s*(?:(?:export|default|public|private|protected|static|async|abstract|final|pub|pub\(crate\))\s+)*` +
	`(?:function\*?|class|interface|enum|struct|trait|fn|type|namespace|record)\s+(\w+)`)

// languages is ordered; the first match of the extension counts.
var languages = []struct {
	extensions string
	language
}{
	{".go", language{"Go", lazyregexp.New(`^(?:func\s+(?:\([^)]*\)\s*)?(\w+)|type\s+(\w+))`)}},
	{".py .pyi", language{"Python", lazyregexp.New(`^\s*(?:async\s+)?(?:def|class)\s+(\w+)`)}},
	{".js .mjs .cjs .jsx", language{"JavaScript", braces}},
	{".ts .tsx .mts", language{"TypeScript", braces}},
	{".java", language{"Java", braces}},
	{".kt", language{"Kotlin", lazyregexp.New(`^\s*(?:\w+\s+)*(?:fun|class|object|interface)\s+(\w+)`)}},
	{".rs", language{"Rust", braces}},
	{".cs", language{"C#", braces}},
	{".php", language{"PHP", braces}},
	{".rb", language{"Ruby", lazyregexp.New(`^\s*(?:def|class|module)\s+([\w.?!]+)`)}},
	{".c .h", language{"C", lazyregexp.New(`^(?:static\s+|inline\s+)*\w[\w *]*?\b(\w+)\s*\([^;]*$`)}},
	{".cc .cpp .hpp", language{"C++", lazyregexp.New(`^(?:static\s+|inline\s+)*(?:(?:class|struct|namespace)\s+(\w+)|` +
		`\w[\w:<>*& ]*?\b(\w+)\s*\([^;]*$)`)}},
	{".sh .bash", language{"Shell", lazyregexp.New(`^\s*(?:function\s+)?([A-Za-z_]\w*)\s*\(\)`)}},
	{".sql", language{"SQL", lazyregexp.New(`(?i)^\s*create\s+(?:or\s+replace\s+)?(?:table|view|index|function|trigger)\s+` +
		`(?:if\s+not\s+exists\s+)?([\w."]+)`)}},
	{".md .markdown", language{"Markdown", lazyregexp.New(`^#{1,6}\s+(.+)$`)}},
	{".html .htm", language{"HTML", nil}},
	{".css", language{"CSS", nil}},
	{".json", language{"JSON", nil}},
	{".yaml .yml", language{"YAML", nil}},
	{".toml", language{"TOML", lazyregexp.New(`^\[+([^\]]+)\]`)}},
	{".csv", language{"CSV", nil}},
	{".txt", language{"text", nil}},
}

// languageOf returns the language of a file by its extension only.
func languageOf(name string) language {
	ext := strings.ToLower(path.Ext(name))
	for _, l := range languages {
		for known := range strings.FieldsSeq(l.extensions) {
			if ext == known {
				return l.language
			}
		}
	}
	return language{name: "other"}
}

// part returns the name of the part that a line begins, or "".
func (l language) part(line string) string {
	if l.outline == nil {
		return ""
	}
	groups := l.outline().FindStringSubmatch(line)
	for i := len(groups) - 1; i > 0; i-- {
		if groups[i] != "" {
			return strings.TrimSpace(groups[i])
		}
	}
	return ""
}
