package intrusion

import "strings"

// maxSentences is the maximum number of sentences of a passage; the texts that the weights were fitted to have one to three.
const maxSentences = 3

// maxPassage is the length in bytes from which a passage ends at the next space.
const maxPassage = 2000

// Passages calls yield for each part of a text that is judged by itself: up to three sentences of one line.
func Passages(text string, yield func(passage string, start int)) {
	for at := 0; at < len(text); {
		end := at + len(text[at:])
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i
		}
		passagesOfLine(text[at:end], at, yield)
		at = end + 1
	}
}

func passagesOfLine(line string, start int, yield func(string, int)) {
	from, sentences := 0, 0
	for i := 0; i < len(line); i++ {
		long := line[i] == ' ' && i-from >= maxPassage
		if !long && (!strings.ContainsRune(".!?", rune(line[i])) || i+1 < len(line) && line[i+1] != ' ') {
			continue
		}
		if sentences++; long || sentences == maxSentences {
			yield(line[from:i+1], start+from)
			from, sentences = i+1, 0
		}
	}
	if strings.TrimSpace(line[from:]) != "" {
		yield(line[from:], start+from)
	}
}
