package prompt

// What specs see of the inside: the reader of a folder and the treatment of one
// text.
var (
	Read    = read
	Choose  = choose
	Neutral = neutral
)
