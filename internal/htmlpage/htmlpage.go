// Package htmlpage has the frame and the style sheets of all HTML pages. A page with an inline
// style sheet loads nothing: its content security policy allows only that sheet, by its hash, and
// the page's own script.
package htmlpage

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"strings"
	"sync"
)

// Base is the style sheet of all pages: colours as custom properties, for light and dark, and a
// reset of browser defaults.
//
//go:embed base.css
var Base string

// report is the style sheet of reports, on top of Base.
//
//go:embed report.css
var report string

// Plots is the style sheet of plots, in pages or in files of their own.
//
//go:embed plots.css
var Plots string

// Common is the script of reports: themes, sortable tables, copy buttons. Scripts of a page follow it.
//
//go:embed common.js
var Common string

//go:embed frame.html
var frameText string

// Frame is the frame around the content of a page.
type Frame struct {
	Lang, Title string
	// Policy is the content security policy of a page without an HTTP header for it.
	Policy string
	// Head are further elements of the head: style sheet, script.
	Head []template.HTML
	// Skip is the place to which keyboard users can jump over the navigation.
	Skip Anchor
	Nav  []Anchor
	// Tool is the program that wrote the page.
	Tool string
	// Themes is true if a script of the page switches between light and dark.
	Themes bool
	// Steps is true if a script of the page leads from failure to failure.
	Steps bool
}

// Anchor is a place in a page.
type Anchor struct{ ID, Name string }

// Style returns the style sheet of reports with an own part.
func Style(own string) string { return Base + report + Plots + own }

// SelfContained returns the frame of a page that needs no other file, with a style sheet of
// Base, the sheets of reports and plots, and own, and a script: empty, or Common and further scripts.
func SelfContained(title, own, script string) Frame {
	style := Style(own)
	f := Frame{
		Lang: "en", Title: title,
		Policy: "default-src 'none'; style-src '" + hash(style) + "'; base-uri 'none'; form-action 'none'",
		Head:   []template.HTML{inline("style", style)},
	}
	if script != "" {
		f.Policy = strings.Replace(f.Policy, "; base-uri", "; script-src '"+hash(script)+"'; base-uri", 1)
		f.Head = append(f.Head, inline("script", script))
		f.Themes = true
	}
	return f
}

// hash is the source expression of an inline element (CSP Level 3, section 2.3.1).
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// inline puts an embedded text into an element, byte for byte as it was hashed.
func inline(element, text string) template.HTML {
	return template.HTML("<" + element + ">" + text + "</" + element + ">") //nolint:gosec // the text is embedded
}

// Template returns a template that defines "head", "open" and "close", which take a Frame: the
// document up to its body, the start of the body of a report, and the end.
var Template = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Parse(frameText))
})
