package journal_test

import (
	"fmt"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist/journal"
)

func TestJournal(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/persist/journal")
}

var _ = Describe("in memory", func() {
	fresh := func() place { return &inMemory{} }
	storeContract("*journal.Memory", fresh)
	storeProperty("*journal.Memory", fresh)
})

var _ = Describe("on a disk", func() {
	for _, syncEvery := range []int{1, 3} {
		Describe(fmt.Sprintf("synced every %d", syncEvery), func() {
			storeContract("*journal.Disk", func() place {
				return &onDisk{dir: GinkgoT().TempDir(), syncEvery: syncEvery}
			})
		})
	}
})

var _ = Describe("on a disk that takes no time", func() {
	for _, syncEvery := range []int{1, 3} {
		Describe(fmt.Sprintf("synced every %d", syncEvery), func() {
			storeProperty("*journal.Disk", func() place { return &onMachine{newMachine(), syncEvery} })
		})
	}
})

// onMachine is a machine whose process is killed before the next begins.
type onMachine struct {
	m         *machine
	syncEvery int
}

func (p *onMachine) Open() (journal.Store, error) {
	p.m = p.m.restart()
	return journal.On(p.m.disk(), p.syncEvery), nil
}

// inMemory is a place that is lost with the spec.
type inMemory struct{ last *journal.Memory }

func (p *inMemory) Open() (journal.Store, error) {
	if p.last == nil {
		p.last = journal.NewMemory()
	} else {
		p.last = p.last.Reopen()
	}
	return p.last, nil
}

// onDisk is a folder.
type onDisk struct {
	dir       string
	syncEvery int
	last      *journal.Disk
}

func (p *onDisk) Open() (journal.Store, error) {
	if p.last != nil {
		if err := p.last.Close(); err != nil {
			return nil, err
		}
	}
	s, err := journal.Open(p.dir, p.syncEvery)
	p.last = s
	return s, err
}
