package reflect

const (
	reach = 6 // tokens that are examined on either side
	near  = 3 // significant words after a token
)

// neighbours are the significant words next to a token, within its phrase and up to the next
// number: up to three words after it and one before it.
type neighbours struct {
	words        [near + 1]token
	n, following int
}

func (b *neighbours) add(t token) {
	b.words[b.n] = t
	b.n++
}

// all returns the words after the token, then the one before it.
func (b *neighbours) all() []token { return b.words[:b.n] }

func (b *neighbours) after() []token { return b.words[:b.following] }

// first returns the word right after the token, or the zero token.
func (b *neighbours) first() token {
	if b.following == 0 {
		return token{}
	}
	return b.words[0]
}

// plans reports whether steps of the work, or a degree of certainty, are counted.
func (b *neighbours) plans() bool { return b.first().class == plan }

// around returns the neighbours of tokens[i]. The word before it is left out if it belongs to
// another number.
func around(tokens []token, i int) *neighbours {
	b := &neighbours{}
	apart := func(t token) bool { return t.phrase != tokens[i].phrase || t.kind == number }
	for j := i + 1; j < min(len(tokens), i+1+reach) && b.n < near && !apart(tokens[j]); j++ {
		if tokens[j].significant() {
			b.add(tokens[j])
		}
	}
	b.following = b.n
	for j := i - 1; j >= max(0, i-reach) && !apart(tokens[j]); j-- {
		if !tokens[j].significant() {
			continue
		}
		if b.following == 0 || j == 0 || tokens[j-1].kind != number {
			b.add(tokens[j])
		}
		break
	}
	return b
}

// significant reports whether a word may name the things that a number counts or that are
// denied.
func (t *token) significant() bool {
	return t.kind == word && (t.class == content || t.class == generic || t.class == plan)
}
