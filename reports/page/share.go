package page

import "html/template"

// Sheet is the style sheet of the page and its plots as an element, for other pages that
// are to look the same, with what is of their own at its end; and the policy that allows
// it and nothing else: no script, no request, no form, no frame.
func Sheet(own string) (element template.HTML, contentPolicy string) {
	css := styleSheet() + own
	return inline("style", css), "default-src 'none'; style-src '" + hash(css) + "'; base-uri 'none'; form-action 'none'"
}
