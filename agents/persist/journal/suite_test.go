package journal_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/journal/storetest"
)

func TestJournal(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/persist/journal")
}

var _ = Describe("in memory", func() {
	fresh := func() storetest.Place { return &inMemory{} }
	storetest.Contract("*journal.Memory", fresh)
	storetest.Property("*journal.Memory", fresh)
})

var _ = Describe("on a disk", func() {
	for _, sync := range []journal.Sync{journal.SyncAlways, journal.SyncGroup} {
		Describe("synced "+string(sync), func() {
			storetest.Contract("*journal.Disk", func() storetest.Place {
				return &onDisk{dir: GinkgoT().TempDir(), options: journal.Options{Sync: sync, Every: 3}}
			})
		})
	}
})

var _ = Describe("on a disk that takes no time", func() {
	for _, o := range []journal.Options{{}, {Sync: journal.SyncGroup, Every: 3}} {
		Describe("synced "+string(o.Sync), func() {
			storetest.Property("*journal.Disk", func() storetest.Place { return &onMachine{newMachine(), o} })
		})
	}
})

// onMachine is a machine whose process is killed before the next begins.
type onMachine struct {
	m       *machine
	options journal.Options
}

func (p *onMachine) Open() (journal.Store, error) {
	p.m = p.m.restart()
	return journal.On(p.m.disk(), p.options), nil
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
	dir     string
	options journal.Options
	last    *journal.Disk
}

func (p *onDisk) Open() (journal.Store, error) {
	if p.last != nil {
		if err := p.last.Close(); err != nil {
			return nil, err
		}
	}
	s, err := journal.Open(p.dir, p.options)
	p.last = s
	return s, err
}
