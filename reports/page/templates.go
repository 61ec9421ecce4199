package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"sync"

	"github.com/rehearse-dev/rehearse/reports/plot"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed assets/style.css
var style string

//go:embed assets/script.js
var script string

// templates are parsed when the first page is rendered: a program that links this
// package and shows no page starts without them.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").ParseFS(templateFiles, "templates/*.html"))
})

// styleSheet is that of the page and its plots.
func styleSheet() string { return style + plot.Style }

// policy allows the page's own style sheet and script, by their hashes, and nothing
// else: no request, no other script, no form, no frame.
func policy() string {
	return fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'",
		hash(styleSheet()), hash(script))
}

// hash is the source expression of an inline element (CSP Level 3, section 2.3.1).
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// inline puts a text of ours into an element, byte for byte as it was hashed.
func inline(element, text string) template.HTML {
	return template.HTML("<" + element + ">" + text + "</" + element + ">") //nolint:gosec // the text is embedded
}
