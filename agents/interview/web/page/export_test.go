package page

import "github.com/rehearse-dev/rehearse/agents/interview/session"

// Blocks and Choices are how a text is read.
func Blocks(text string, l session.Language) [][]string {
	var out [][]string
	for _, b := range blocks(text, l) {
		out = append(out, append([]string{string(b.Kind), b.Mark}, b.Lines...))
	}
	return out
}

func Choices(text string) []string {
	var out []string
	for _, c := range choicesOf(text) {
		out = append(out, c.Letter+"|"+c.Text+"|"+c.Line)
	}
	return out
}

// Catalog is every text of the page.
func Catalog() map[session.Language]any {
	out := map[session.Language]any{}
	for l, w := range catalog {
		out[l] = w
	}
	return out
}

// Style returns the style sheet.
func Style() string {
	data, err := assetFiles.ReadFile("assets/style.css")
	if err != nil {
		panic(err)
	}
	return string(data)
}

// Version is part of the addresses of assets.
func Version() string { return version() }
