// Package text parses a message as a person reads it: Markdown becomes blocks and sentences,
// spelling becomes folded words, and each piece of code, quotation or address is one opaque
// word. Every span counts bytes of the original message, also where its encoding was repaired.
//
// A message is read in four steps: its spelling becomes plain (clean.go), its dialect of Markdown
// becomes CommonMark (dialect.go), goldmark finds the blocks (reader.go), and the text of each block
// is cut into words and sentences (inline.go).
package text

// Span is a half-open range of bytes of the original message.
type Span struct{ Start, End int }

// Doc is a message that was read. Its slices are reused by Reader.Read.
type Doc struct {
	// Raw is the original message.
	Raw       string
	Blocks    []Block
	Sentences []Sentence
	Words     []Word
}

// Kind is the kind of a block.
type Kind uint8

// The kinds of block.
const (
	Paragraph Kind = iota
	Heading        // "# …", or a line that is all strong text or ends with a colon before a list
	Item           // of a list; a block for each, nested ones too
	Table          // one row, with a sentence at least for each cell that is not empty
	Code           // fenced or indented; no sentences
	Quote          // block quotation; no sentences
	Rule           // "---"
)

// Check is the state of an item's check box.
type Check uint8

// The states of a check box.
const (
	NoBox   Check = iota
	Open          // [ ]
	Begun         // [-] [~] [/]
	Ticked        // [x], ✅, ☑
	Crossed       // ❌, ✗
)

// Block is a piece of the message's structure, in order.
type Block struct {
	Span
	Kind Kind
	Box  Check
	// Ordered and Number belong to items such as "2." or "b)".
	Ordered bool
	Number  int
	// Level is 1 to 6 of a heading with number signs, 7 of another heading; the
	// depth of an item, from 0.
	Level int
	// Section is the index of the heading that governs the block, -1 if none.
	Section int
	// Lead is the index of the paragraph or heading that introduces the list
	// that the item belongs to (an item's is that of its whole list), -1 if none.
	Lead int
	// Parent is the index of the item that a nested item is under, -1 if none.
	Parent int
	// Header is true for the head of a table.
	Header bool
	// First and End are the range of the block's sentences.
	First, End int
}

// Ending is the punctuation at the end of a sentence.
type Ending uint8

// The endings of sentences.
const (
	None Ending = iota
	Stop        // . or !
	Question
	Colon // the text goes on with a list, code or nothing
	Ellipsis
)

// Sentence is a range of words of one block.
type Sentence struct {
	Span
	Block int
	// First and End are the range of the sentence's words.
	First, End int
	Ending     Ending
	// Column is the column of the cell in a row of a table, from 0.
	Column int
}

// Flags are properties of a word as it is written.
type Flags uint16

// The flags.
const (
	Capital   Flags = 1 << iota // begins with an upper-case letter
	Digits                      // digits only
	Opaque                      // code, quotation, address: Fold is empty
	AfterGap                    // a comma, colon, dash, parenthesis or line break is before it
	Linked                      // an apostrophe or hyphen is before it
	AfterLine                   // with AfterGap: the gap is one line break, nothing more
)

// Word is a run of letters and digits. Apostrophes and hyphens separate words:
// "I'll" is i + ll, "j'ai" is j + ai.
type Word struct {
	Span
	// Fold is lower case without accents or ligatures, in ASCII where possible.
	Fold  string
	Flags Flags
	// ID is the word's number in the lexicon that reads, 0 if it has none.
	ID int32
}
