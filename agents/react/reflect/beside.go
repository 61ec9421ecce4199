package reflect

const (
	reach = 6 // tokens that are looked at on either side
	near  = 3 // telling words behind a token
)

// beside are the telling words next to a token, within its phrase and up to the
// next number: those behind it, and the one before.
type beside struct {
	words     [near + 1]token
	n, behind int
}

func (b *beside) add(t token) {
	b.words[b.n] = t
	b.n++
}

// all returns the tokens behind first, then the one before.
func (b *beside) all() []token { return b.words[:b.n] }

func (b *beside) after() []token { return b.words[:b.behind] }

// first returns the word right behind; none at all if there is no such word.
func (b *beside) first() token {
	if b.behind == 0 {
		return token{}
	}
	return b.words[0]
}

// plans reports whether what is counted are steps of the work, or how sure it is.
func (b *beside) plans() bool { return b.first().class == plan }

// around returns the words next to tokens[i]. The one before is left out where it
// belongs to a number of its own.
func around(tokens []token, i int) *beside {
	b := &beside{}
	apart := func(t token) bool { return t.phrase != tokens[i].phrase || t.kind == number }
	for j := i + 1; j < min(len(tokens), i+1+reach) && b.n < near && !apart(tokens[j]); j++ {
		if tokens[j].telling() {
			b.add(tokens[j])
		}
	}
	b.behind = b.n
	for j := i - 1; j >= max(0, i-reach) && !apart(tokens[j]); j-- {
		if !tokens[j].telling() {
			continue
		}
		if b.behind == 0 || j == 0 || tokens[j-1].kind != number {
			b.add(tokens[j])
		}
		break
	}
	return b
}

// telling reports whether a word may say what a number counts, or what is denied.
func (t *token) telling() bool {
	return t.kind == word && (t.class == content || t.class == generic || t.class == plan)
}
