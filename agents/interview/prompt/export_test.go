package prompt

var (
	Read    = read
	Choose  = choose
	Neutral = neutral
	Trim    = trim
)

type Kept = keptHistory
