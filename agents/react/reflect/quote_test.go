package reflect_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/reflect"
)

// What these observations say is no fact unless it is quoted.
var _ = Describe("a quotation", func() {
	DescribeTable("is a fact if the observation contains it word for word",
		func(observation, critical, complacent string) {
			v := reflect.Judge(observation, critical)
			Expect(v.Critical).To(BeTrue(), "%s: %+v", critical, v)
			v = reflect.Judge(observation, complacent)
			Expect(v.Critical).To(BeFalse(), "%s: %+v", complacent, v)
		},
		Entry("in straight marks", "Go on then.", `It says "go on then".`, `It says go on then.`),
		Entry("in curly marks", "Go on then.", `It says “go on then”.`, `It says “go on then".`),
		Entry("in French marks", "Go on then.", "Il dit «\u00a0go on then\u00a0».", "Il dit »go on then«."),
		Entry("as code", "Go on then.", "It says `go on then`.", "It says 'go on then'."),
		Entry("over lines, on either side", "so go\r\non then", "It says “go on\nthen”.", "It says “go on.\n\nGo then”."),
		Entry("with marks of its own at the end", "so: go on then", `"Go on then," it says.`, `"Go on now," it says.`),
		Entry("with another apostrophe", "C’est à toi", `Il dit "c'est à toi".`, `Il dit "c'est à moi".`),
		Entry("in whole words", "so go on then", `It says "so go".`, `It says "o go on the".`),
		Entry("within its marks, not between two", "go on then", `"To be", "go on then".`, `"To be" go on then "or not".`),
		Entry("behind marks that do not end", "go on then", "“ and « and ` are open, \"go on then\" is not.", "\"go on then is open."),
		Entry("behind short ones, however many", "go on then", strings.Repeat(`"" "a" `, 20)+`"go on then"`, strings.Repeat(`"" "a" `, 20)),
		Entry("among the first sixteen", "go on then", strings.Repeat(`"to be" `, 15)+`"go on then"`, strings.Repeat(`"to be" `, 16)+`"go on then"`),
		Entry("from four characters on", "go a g a", `It says "go a".`, "It says \"g \n a\"."),
		Entry("up to 400 bytes", strings.Repeat("go on ", 66)+"go a go on "+strings.Repeat("go on ", 66),
			`"`+strings.Repeat("go on ", 66)+`go a"`, `"`+strings.Repeat("go on ", 66)+`go on"`),
		Entry("behind a mark that ends too late", strings.Repeat("go on ", 100)+"then", "“"+strings.Repeat("go on ", 100)+"«on then».”", "“"+strings.Repeat("go on ", 100)+"on then.”"),
	)

	It("counts once, and not where a fact was found in it", func() {
		const seen = "eval() is there: go on then"
		once := reflect.Judge(seen, `"go on then"`)
		Expect(once.Facts).To(Equal([]string{"go on then"}))
		Expect(reflect.Judge(seen, "\"go on then\" «Go on, then»").Score).To(Equal(once.Score))

		Expect(reflect.Judge(seen, `"eval() is there"`).Facts).To(Equal([]string{"eval"}))
		Expect(reflect.Judge(seen, `"there: go on" eval()`).Facts).To(Equal([]string{"eval", "there: go on"}))
		Expect(reflect.Judge(seen, `eval() "there: go on"`).Facts).To(Equal([]string{"eval", "there: go on"}))
	})

	It("counts where only half a fact was found in it", func() {
		const seen = "The migration stopped at table orders: lock held by a backup job"
		Expect(reflect.Judge(seen, "“by a backup”").Facts).To(Equal([]string{"by a backup", "backup"}))
	})

	It("is found in whatever surrounds it, up to a MiB", func() {
		const most = 1 << 20
		near := strings.Repeat("go on ", 60) + "go"
		for _, mark := range []string{"\"", "`", "“", "«", "“« "} {
			text := strings.Repeat(mark, (most-100)/len(mark)/2*2)
			Expect(reflect.Judge("go on then", text).Critical).To(BeFalse(), mark)
			Expect(reflect.Judge("go on then", text+"\n«go on then»").Critical).To(BeTrue(), mark)
		}
		observation := strings.Repeat("go on ", most/6-2) + "then"
		Expect(reflect.Judge(observation, strings.Repeat(`"`+near+` to" `, 16)).Critical).To(BeFalse())
		Expect(reflect.Judge(observation, strings.Repeat(`"`+near+` to" `, 15)+`"on then"`).Critical).To(BeTrue())
	})
})
