package reflect_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/reflect"
)

// Each pair differs in the one thing that the entry names.
var _ = DescribeTable("The verdict depends on", Label("R-04"),
	func(observation, critical, complacent string) {
		v := reflect.Judge(observation, critical)
		Expect(v.Critical).To(BeTrue(), "%s: %+v", critical, v)
		v = reflect.Judge(observation, complacent)
		Expect(v.Critical).To(BeFalse(), "%s: %+v", complacent, v)
	},
	Entry("whether a quotation is in the observation", "The person answered:\nAt  four.",
		`The person said "at four."; whether that is winter time is open.`, `The person said "at seven."; whether that is winter time is open.`),
	Entry("whether the words are quoted at all", "Oui, mais pas avant\nlundi prochain.",
		"On me dit « pas avant lundi prochain ».", "On me dit bien des choses."),
	Entry("whether the quotation is long enough", "ok go on then",
		"It says `go on then`.", "It says `ok`."),
	Entry("whether a number is in the observation", "The port 22 answers, the others drop packets silently.",
		"The port answers on the outside.", "The port 8080 answers on the outside."),
	Entry("whether a name is in more than a formula", "src/list.go:17: const defaultLimit = 100",
		"src/list.go has it.", "src/list.go went as intended."),
	Entry("whether the phrase of a word has further content", "The migration stopped at table orders: lock held by a backup job",
		"The migration hangs.", "The migration ran."),
	Entry("whether a word is part of praise", "The migration stopped at table orders: lock held by a backup job",
		"The migration waits for something else.", "The migration went smoothly from beginning to end, the migration is excellent work."),
	Entry("the thing that a small number counts", "3 tests failed, 40 are green",
		"3 failures are left.", "3 dependencies are old."),
	Entry("the thing that it counts in a list of results", "9 passed 3 failed",
		"3 failed.", "3 passed."),
	Entry("the end of its phrase", "exit 3, disk full",
		"It ended with exit 3.", "There are 3 disks."),
	Entry("the end of its sentence", "exit 3. disk full",
		"It ended with exit 3.", "There are 3 disks."),
	Entry("whether steps of the work are counted", "alpha is closed\nbeta is open",
		"Two doors.", "Two steps."),
	Entry("the difference of two numbers", "87 commits, 61 of them by a bot",
		"26 commits remain.", "27 commits remain."),
	Entry("the difference of two different numbers", "87 commits, 87 of them by a bot, 61 tested",
		"148 commits and tests.", "174 commits and tests."),
	Entry("the sums of the first twelve whole numbers", "0.5 100 1100 2300 4700 9500 19100 38300 76700 153500 307100 614300 1228700 2457500",
		"1228600 pages or so.", "2457400 pages or so."),
	Entry("the sums of whole numbers without codes", "build-42 made 100 pages in 20 s",
		"120 pages or so.", "142 pages or so."),
	Entry("whether the denied thing was searched for", "(no matches)",
		"No mitigations.", "No worry."),
	Entry("whether the reflection's own work is denied", "(no matches)",
		"Pas de redémarrage.", "Je n'ai pas redémarré la machine."),
	Entry("the same in English", "(no matches)",
		"No reboot.", "I did not reboot it."),
	Entry("whether the denial has an object", "(no matches)",
		"No hindrance.", "Nothing hinders us."),
	Entry("whether the observation denies in general", "2 suites missing",
		"No mitigations.", "Some mitigations."),
	Entry("whether the observation only denies", "None.",
		"No mitigations.", "Some mitigations."),
	Entry("whether it denies one thing only", "suite alpha did not run",
		"alpha did not run.", "No mitigations."),
	Entry("the spelling of a percentage", "dates : 9 % à l'américaine, 91 % non",
		"Neuf pour cent, donc.", "Huit pour cent, donc."),
	Entry("the number of listed items", "- alpha\n  is closed\n- beta\n  is open",
		"Two doors.", "Seven doors."),
	Entry("the number of lines that name a thing", "start\nworker one: stopped\nserver: idle\nworker two: stopped\nend\nbye",
		"Two workers.", "Two servers."),
	Entry("whether a capital makes a name", "Mail went to Inès and four others whose addresses bounced",
		"Inès.", "Mail."),
	Entry("whether the capital begins a sentence", "It bounced twice. Mail went to Inès and four others whose addresses are old",
		"Inès.", "Mail."),
	Entry("whether a word is a name", "The migration stopped at table orders: lock held by a backup job",
		"migration().", "The migration."),
	Entry("whether a name could be in any report", "A resultant force of the wind moved the mast",
		"mast().", "result()."),
	Entry("whether a number is whole", "load average: 31.40 at night, calm since",
		"At 31 it was.", "At 33 it was."),
	Entry("whether it is a number at all", "this is file 1,2,3",
		"File 1,2,3, then.", "0 files."),
)

var _ = Describe("The listed facts", func() {
	It("are in the words of the reflection, the heaviest first, ten at most", func() {
		v := reflect.Judge(audit, "SQL en L.45 ; `innerHTML` en L.34 ; eval() en L.12 : avec 3 failles, la concatenation compte.")
		Expect(v.Facts).To(ContainElements("SQL", "innerHTML", "eval", "3 failles"))
		Expect(v.Reason).To(HavePrefix("it cites 8 facts of the observation: "))
		many := "a1 b1 c1 d1 e1 f1 g1 h1 i1 j1 k1 l1"
		Expect(reflect.Judge(many, many).Facts).To(HaveLen(10))
	})

	It("count once, however often they are cited", func() {
		once := reflect.Judge(audit, "eval() is the worst")
		Expect(reflect.Judge(audit, "eval() is the worst\neval() is the worst").Score).To(Equal(once.Score))
		Expect(reflect.Judge("at src/list.go", "I opened src/list.go as intended.").Score).To(Equal(0.5), "a path and its last part are one")
	})

	DescribeTable("The reason names the missing evidence",
		func(observation, text, reason string) {
			Expect(reflect.Judge(observation, text).Reason).To(Equal(reason))
		},
		Entry("an empty reflection", audit, " … ", "the reflection says nothing"),
		Entry("an empty observation", " \n", "It went well.", "the observation is empty, and the reflection does not say so"),
		Entry("a wrong number", audit, "7 of them.", `it cites nothing that the observation shows; "7" is not in it`),
		Entry("one common word", failures, "The parse is as expected.", `it shares only the word "parse" with the observation`),
		Entry("no fact", audit, "Going on.", "it cites nothing that the observation shows"),
	)
})
