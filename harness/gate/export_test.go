package gate

// SplitWords separates the words of an invariant from its expression.
func SplitWords(text string) (words, expr string) { return splitWords(text) }
