package text_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

var _ = Describe("a message", func() {
	It("becomes blocks, sentences and folded words", func() {
		var r text.Reader
		Expect(dump(r.Read("# Résumé\n\nTâche complétée. Prochaines étapes: 1. Test 2. Deploy\n"))).To(Equal(
			`heading level=1
  ^resume /
paragraph section=0
  ^tache completee .
  ^prochaines etapes :
  #1 ^test /
  #2 ^deploy /
`))
	})
})
