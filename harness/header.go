package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Header returns the first line of a run's recording. tool is the program's name and version. The id
// is derived from everything that determines the content, so equal runs have equal ids.
func Header(set []scenarios.Scenario, tool string, prices *price.Table, labels map[string]string) record.Run {
	header := record.Run{
		Schema:    record.Schema,
		Tool:      tool,
		Prices:    prices.Date,
		EURPerUSD: prices.EURPerUSD,
		RateDate:  prices.RateDate,
		Scenarios: len(set),
		Labels:    labels,
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q\n", tool, prices.Date) // the rate is part of the quotes
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(sum, "%q=%q\n", key, labels[key])
	}
	for _, sc := range set {
		trials := max(sc.Trials, 1)
		header.Trials += trials
		quote, _ := prices.Quote(sc.Backend.Model)
		fmt.Fprintf(sum, "%q %q %d %+v\n", sc.Name, sc.Digest, trials, quote)
		for key := range sc.Expect.Snapshot.Files() {
			fmt.Fprintf(sum, "%q %q\n", key, sc.Expect.Snapshot.Stored[key])
		}
	}
	header.ID = hex.EncodeToString(sum.Sum(nil)[:8])
	return header
}
