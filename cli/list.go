package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/rundir"
)

func (a *app) listCommand() *cobra.Command {
	var chosen selection
	var order ordering
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [PATTERN...]",
		Short: "List scenarios with their tags, kinds and last verdicts",
		Long: `list prints the scenarios that run would drive with the same patterns and filters, in the same
order: names, tags, kinds of agents, and the verdict in the last run. It runs nothing.

` + selectionHelp + `

Exit codes: 0 listed, 2 usage, an invalid file, or nothing was selected.`,
		Example: `  rehearse list
  rehearse list 'loop/*' -k 'golden and not stream'
  rehearse list --failed
  rehearse list --tag slow --json | jq -r '.scenarios[].name'`,
		ValidArgsFunction: completeScenarios,
		RunE:              func(_ *cobra.Command, args []string) error { return a.list(args, chosen, order, asJSON) },
	}
	a.selectionFlags(cmd, &chosen)
	order.register(cmd.Flags())
	jsonFlag(cmd.Flags(), &asJSON, "the list")
	return cmd
}

// listing is the result of list.
type listing struct {
	Schema    string            `json:"schema"`
	Scenarios []listingScenario `json:"scenarios"`
}

// listingScenario is a row of a listing.
type listingScenario struct {
	Name   string   `json:"name"`
	File   string   `json:"file"`
	Kind   string   `json:"kind"`
	Tags   []string `json:"tags"`
	About  string   `json:"about,omitempty"`
	Trials int      `json:"trials"`
	// Last is the last known verdict, or empty.
	Last gate.Verdict `json:"last,omitempty"`
}

func (a *app) list(patterns []string, chosen selection, order ordering, asJSON bool) error {
	set, err := a.selectScenarios(patterns, chosen, nil)
	if err == nil {
		set, err = order.sort(set)
	}
	if err == nil {
		set, _, err = order.shard.take(set)
	}
	if err != nil {
		return usage(err)
	}
	last, err := rundir.ReadLast(runsFolder)
	if err != nil && !errors.Is(err, rundir.ErrNoLast) {
		return usage(err)
	}
	result := listing{Schema: "rehearse.list/1", Scenarios: make([]listingScenario, len(set))}
	for i, sc := range set {
		result.Scenarios[i] = listingScenario{
			Name: sc.Name, File: sc.File, Kind: sc.Drive.Kind, Tags: append([]string{}, sc.Tags...), About: sc.About,
			Trials: sc.Trials, Last: last.Verdicts[sc.Name],
		}
	}
	if err := a.show(listDocument(result), asJSON); err != nil {
		return noVerdict(fmt.Errorf("print the list: %w", err))
	}
	return nil
}

// listDocument returns a listing as a document.
func listDocument(l listing) document {
	table := doc.Table{Columns: []doc.Column{
		{Head: doc.Line("scenario")}, {Head: doc.Line("last")}, {Head: doc.Line("kind")}, {Head: doc.Line("tags"), Shorten: true},
	}}
	for _, sc := range l.Scenarios {
		last := doc.Toned(doc.Faint, "-")
		if sc.Last != "" {
			last = doc.Toned(doc.Tone(sc.Last), string(sc.Last))
		}
		table.Rows = append(table.Rows, []doc.Text{
			doc.Line(sc.Name), doc.Line(last), doc.Line(sc.Kind), doc.Line(doc.Quote(strings.Join(sc.Tags, ", "))),
		})
	}
	return document{doc.Document{
		Kind: "Scenarios", Summary: doc.Line(format.Plural(len(l.Scenarios), "scenario")), Body: []doc.Block{table},
	}, l, tool()}
}
