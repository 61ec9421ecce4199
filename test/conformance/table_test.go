package conformance_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var update = flag.Bool("update", false, "rewrite the tables of clients in docs/reference/protocols.md from this run")

// protocols is the page with the tables.
const protocols = "../../docs/reference/protocols.md"

// table is a table of the page. Its lines are filled in by the specs that run the clients.
type table struct {
	name   string // in the comments around it
	header []string
	lines  []string
}

func row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// expectPublished fails unless the page has the table that this run produced. With -update it writes it.
func (t *table) expectPublished() {
	GinkgoHelper()
	Expect(t.lines).NotTo(ContainElement(""), "each client must have been run")
	var text strings.Builder
	text.WriteString(row(t.header...) + "|" + strings.Repeat("---|", len(t.header)) + "\n")
	for _, line := range t.lines {
		text.WriteString(line)
	}
	page, err := os.ReadFile(protocols)
	Expect(err).NotTo(HaveOccurred())
	begin := fmt.Sprintf("<!-- begin %s: make conformance-table writes this -->\n", t.name)
	before, rest, ok := strings.Cut(string(page), begin)
	Expect(ok).To(BeTrue(), "%s has no %q", protocols, begin)
	published, after, ok := strings.Cut(rest, "<!-- end -->")
	Expect(ok).To(BeTrue(), "%s has no end of the table", protocols)
	if *update {
		Expect(os.WriteFile(protocols, []byte(before+begin+text.String()+"<!-- end -->"+after), 0o644)).To(Succeed()) //nolint:gosec // it is committed
		return
	}
	Expect(published).To(Equal(text.String()), "make conformance-table accepts the change")
}

// versions returns the packages with their versions in package-lock.json, or the module of Go with its version in go.mod, for a
// table.
func versions(packages ...string) string {
	GinkgoHelper()
	if name := packages[0]; strings.Contains(name, ".") {
		mod, err := os.ReadFile("go.mod")
		Expect(err).NotTo(HaveOccurred())
		_, after, ok := strings.Cut(string(mod), "\t"+name+" v")
		Expect(ok).To(BeTrue(), name)
		return name + " " + strings.Fields(after)[0]
	}
	var lock struct {
		Packages map[string]struct{ Name, Version string } // with a name if the package is installed under another one
	}
	text, err := os.ReadFile("node/package-lock.json")
	Expect(err).NotTo(HaveOccurred())
	Expect(json.Unmarshal(text, &lock)).To(Succeed())
	found := make([]string, len(packages))
	for i, name := range packages {
		locked := lock.Packages["node_modules/"+name]
		Expect(locked.Version).NotTo(BeEmpty(), name)
		found[i] = cmp.Or(locked.Name, name) + " " + locked.Version
	}
	return strings.Join(found, ", ")
}
