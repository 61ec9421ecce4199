package step

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// stopWords are ignored when requirements and claims are compared.
var stopWords = textfold.WordSet(`
	a an and are as at be by for from has have if in into is it its no not of on or that the their them
	there these they this to was were will with must should shall may can only each every any all
	au aux avec ce ces chaque d dans de des doit doivent du elle en est et etre il ils l la le les leur ne
	ni ou par pas peut plus pour qu que qui sans se ses son sont sur tous tout toute toutes un une y
`)

// significantWords returns the words of a text without stop words, unless it has no others.
func significantWords(text string) []string {
	var all []string
	for _, w := range textfold.Fold(text) {
		if !stopWords[w] {
			all = append(all, w)
		}
	}
	if len(all) == 0 {
		return textfold.Fold(text) // such as an input named "to"
	}
	return all
}

// sameWord reports whether two words are equal except for a short ending ("file", "files";
// "modifie", "modification").
func sameWord(a, b string) bool {
	if a == b {
		return true
	}
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	n := 0
	for n < len(short) && short[n] == long[n] {
		n++
	}
	if n == len(short) && (n >= 3 && len(long)-n <= 2 || long == short+"s") {
		return true // a plural, or "e" and "es" of French
	}
	return n >= 5 && len(short)-n <= 3
}

// containsWords reports whether one of the texts has at least one in share of the wanted words.
func containsWords(texts [][]string, want []string, share int) bool {
	need := (len(want) + share - 1) / share
	for _, text := range texts {
		found := 0
		for _, w := range want {
			if slices.ContainsFunc(text, func(t string) bool { return sameWord(w, t) }) {
				found++
			}
		}
		if found >= need {
			return true
		}
	}
	return false
}

// extensions are file extensions. Those that more often end a call or a member
// ("console.log", "process.env") are left out.
var extensions = textfold.WordSet(`
	bash bat c cc cfg clj conf cpp cs css csv dart diff exs go gradle h hpp hs htm html ini ipynb java jl js
	json jsonl jsx kt less lock lua md mjs mod patch php pl properties proto ps1 py r rb rs rst sass scala scss
	sh sql sum svelte svg swift tex tf toml ts tsv tsx txt vue xml yaml yml zig
`)

// products are names that look like files.
var products = textfold.WordSet("node.js vue.js next.js express.js react.js three.js d3.js nuxt.js chart.js asp.net res.json response.json")

const (
	maxFiles = 200 // mentioned files that are examined
	maxName  = 200 // bytes of an entry of the context that is compared word by word
)

// mentionedFiles returns the file names in texts, each once and at most maxFiles.
func mentionedFiles(texts []string) []string {
	var all []string
	known := make(map[string]bool)
	for _, s := range texts {
		for at := 0; at < len(s); {
			from := at + strings.IndexFunc(s[at:], isPathRune)
			if from < at {
				break
			}
			to := len(s)
			if n := strings.IndexFunc(s[from:], isNotPathRune); n >= 0 {
				to = from + n
			}
			at = to
			token := strings.Trim(strings.TrimPrefix(strings.ReplaceAll(s[from:to], `\`, "/"), "./"), ".-")
			call := strings.HasPrefix(s[to:], "(")
			address := strings.HasSuffix(s[:from], ":") && strings.HasPrefix(s[from:], "//")
			if call || address || known[token] || !isFile(token) {
				continue
			}
			known[token] = true
			if all = append(all, token); len(all) == maxFiles {
				return all
			}
		}
	}
	return all
}

// isFile reports whether a word is the name of a file.
func isFile(token string) bool {
	name := strings.ToLower(path.Base(token))
	stem, ext := name, ""
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		stem, ext = name[:i], name[i+1:]
	}
	return stem != "" && extensions[ext] && (len(ext) > 1 || len(stem) > 1 && !strings.Contains(stem, ".")) && !products[name]
}

func isPathRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-/\\~@+", r)
}

func isNotPathRune(r rune) bool { return !isPathRune(r) }

// unreadFiles returns the files that are mentioned in texts and not in the context.
func unreadFiles(texts, context []string) []string {
	var all []string
	for _, f := range mentionedFiles(texts) {
		if !inContext(f, context) {
			all = append(all, f)
		}
	}
	return all
}

// inContext reports whether the context has or mentions a file. A name without a folder
// matches any path that ends in it.
func inContext(file string, context []string) bool {
	for _, c := range context {
		if mentions(c, file) || strings.HasSuffix(file, "/"+strings.TrimPrefix(c, "./")) {
			return true
		}
	}
	return false
}

// mentions reports whether a text contains the file as a whole name or as the end of a path.
func mentions(text, file string) bool {
	for at := 0; ; at++ {
		i := strings.Index(text[at:], file)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(file):])
		if (before == utf8.RuneError || before == '/' || !isPathRune(before)) && (after == utf8.RuneError || after == '.' || !isPathRune(after)) {
			return true
		}
	}
}

// refersTo reports whether texts name something of the context.
func refersTo(texts, context []string) bool {
	if slices.ContainsFunc(mentionedFiles(texts), func(f string) bool { return inContext(f, context) }) {
		return true
	}
	for _, c := range context {
		if len(c) > maxName {
			continue
		}
		want := significantWords(c)
		for _, s := range texts {
			if len(want) > 0 && containsWords([][]string{significantWords(s)}, want, 1) {
				return true
			}
		}
	}
	return false
}

// forbidsChanges matches a constraint that forbids every change of files; one about
// certain files has other words between these.
var forbidsChanges = lazyregexp.New(`(?i)\b(no|never|not|without)\b[^.;]{0,30}\b(chang|modif|edit|writ|creat|touch)\w*\b` +
	`[^.;]{0,20}\b(any )?files?\b(?: of the workspace)?\s*[.;]?\s*$|` +
	`\bno files? (is|are|may be|must be|was|were|gets?) (chang|modif|edit|writ|creat|touch)\w*\s*[.;]?\s*$|` +
	`\bread[- ]only\b|\blecture seule\b|` +
	`\baucun fichier (n'est|ne doit être|ne sera|n'a été) (modifié|changé|créé|écrit|touché)|` +
	`\bne (modifie|change|crée|touche|modifier|changer|créer|toucher)\w* (aucun|pas de) fichier`)

// readOnlyConstraint returns the first constraint that forbids every change of files.
func readOnlyConstraint(constraints []string) string {
	for _, c := range constraints {
		if forbidsChanges().MatchString(strings.ReplaceAll(c, "’", "'")) {
			return c
		}
	}
	return ""
}
