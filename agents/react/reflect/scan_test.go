package reflect_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/reflect"
)

var _ = DescribeTable("The scanner recognises", Label("R-04"),
	func(observation, critical, complacent string) {
		v := reflect.Judge(observation, critical)
		Expect(v.Critical).To(BeTrue(), "%s: %+v", critical, v)
		v = reflect.Judge(observation, complacent)
		Expect(v.Critical).To(BeFalse(), "%s: %+v", complacent, v)
	},
	Entry("items by their numbers", "1. alpha\n   is closed\n2. beta\n   is open\n3) gamma\n   leaks\nof one house", "Three doors.", "Two doors."),
	Entry("items by brackets", "(1) alpha\n   is closed\n(2) beta\n   is open\n3) gamma\n   leaks\nof one house", "Three doors.", "Two doors."),
	Entry("no items by letters in brackets", "a) alpha\n   is closed\nb) beta\n   is open\nof one house", "Five lines.", "Two doors."),
	Entry("no items by years", "2024. alpha\n   is closed\n2025. beta\n   is open\nof one house", "Five lines.", "Two doors."),
	Entry("no items by words", "ab. alpha\n   is closed\ncd. beta\n   is open\nof one house", "Five lines.", "Two doors."),
	Entry("the parts of a date", "released on 2026-08-14 by a bot of the team", "Le 14 août.", "Le 15 août."),
	Entry("a path, but not another one with the same beginning", "src/list.go paints the window of the house with seven colours", "src/list.go, then.", "src/link.go, then."),
	Entry("the line after a path", "src/list.go:17:3 reads the limit of nobody", "Line 17.", "Line 18."),
	Entry("a line by its letter", "L.17 reads the limit of nobody at all", "La ligne 17.", "La ligne 18."),
	Entry("a code, by its capitals", "EOF ended the reading of many bytes of the disk of data", "EOF.", "Bytes."),
	Entry("a function, by its bracket", "migrations() waits for locks of others all day", "The migration hangs.", "The import hangs."),
	Entry("a version, by its full stops", "a parser with v.beta of the tool paints a window of seven colours", "v.beta it is.", "Window it is."),
	Entry("a hundred, but for a percentage", "100 lines of old rent", "Cent lignes.", "Pour cent lignes."),
	Entry("decimals without a whole", "a drift of -.5 degrees at night", "0.5 degrees.", "5 degrees."),
	Entry("one word, in its plural", "the parser of dates has bugs in many places", "One bug hides.", "One hen hides."),
)
