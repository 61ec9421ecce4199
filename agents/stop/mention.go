package stop

// form is the piece of Markdown structure that a mention is in.
type form uint8

// The forms.
const (
	prose   form = iota // a sentence of a paragraph, or an item that is not a step by itself
	heading             // the heading of a section
	lead                // a sentence that introduces a list, or the steps that follow on its line
	item                // an item of a list that is a step by itself
	box                 // an item with a check box that is not ticked, or a row of a table that is not done
	offer               // a question or an offer to the user: "Shall I …?", "Let me know if …"
)

// mention is a place where the message speaks of work that is not done, with
// where it is in the document that was read.
type mention struct {
	category Category
	pattern  string // the id of the rule that found it
	span     Span   // bytes of the message
	sentence int    // index into Doc.Sentences, -1 for a row of a table
	block    int    // index into Doc.Blocks
	form     form
	real     bool   // it speaks of work of the agent that is not done
	why      string // what decided real
	severity Severity
}
