package journal_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/persist/journal"
)

// model contains the records that a store must return.
type model struct {
	records  []string
	state    string
	covers   int
	snapshot bool
	blobs    map[string]string
}

func (m *model) found() contents {
	f := contents{
		Recovery: journal.Recovery{Records: len(m.records), Replayed: len(m.records) - m.covers, Snapshot: m.snapshot},
		State:    m.state,
	}
	return contents{Recovery: f.Recovery, State: f.State, After: append(f.After, m.records[m.covers:]...)}
}

// storeProperty registers that a store holds what was stored after any steps. It takes
// thousands of them: give it a store that does not wait for a real disk.
func storeProperty(driver string, fresh func() place) {
	open := opening(driver, fresh)
	It("holds what was stored, whatever is done to it", func() {
		m := model{blobs: map[string]string{}}
		s := open()
		read(s)
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			t.Repeat(map[string]func(*rapid.T){
				"append": func(t *rapid.T) {
					group := rapid.SliceOfN(rapid.StringMatching(`[ -~é]{1,40}`), 0, 4).Draw(t, "records")
					Expect(s.Append(raw(group)...)).To(Succeed())
					m.records = append(m.records, group...)
				},
				"checkpoint": func(t *rapid.T) {
					m.state = rapid.String().Draw(t, "state")
					Expect(s.Checkpoint([]byte(m.state))).To(Succeed())
					m.covers, m.snapshot = len(m.records), true
				},
				"save": func(t *rapid.T) {
					name, data := fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "name")), rapid.String().Draw(t, "data")
					Expect(s.Save(name, []byte(data))).To(Succeed())
					m.blobs[name] = data
				},
				"open anew": func(*rapid.T) {
					s = open()
					Expect(read(s)).To(Equal(m.found()))
				},
				"": func(*rapid.T) {
					for name, data := range m.blobs {
						Expect(s.Read(name)).To(BeEquivalentTo(data))
					}
				},
			})
		})
	})
}
