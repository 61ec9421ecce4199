package detect

import (
	"hash/maphash"
	"iter"
	"slices"

	"github.com/rehearse-dev/rehearse/stat"
)

// Agreement compares the labels of two annotators of the same items.
type Agreement struct {
	// Classes has the labels of the first annotator as rows, and those of the second as columns.
	Classes
	// Positive compares the positive label with all others.
	Positive Classes `json:"positive"`
	// OnlyFirst and OnlySecond count items that the other one did not label.
	OnlyFirst  int `json:"only_first"`
	OnlySecond int `json:"only_second"`
	// Changed counts items whose texts differ, which are not compared.
	Changed int `json:"changed"`
	// Differences are in the order of the first corpus. At most 1,000 are listed.
	Differences []Difference `json:"differences"`
}

// Difference is an item with two labels.
type Difference struct {
	ID string `json:"id"`
	// First and Second are the labels, each with its confidence.
	First            string `json:"first"`
	FirstConfidence  string `json:"first_confidence"`
	Second           string `json:"second"`
	SecondConfidence string `json:"second_confidence"`
	// Excerpt is the end of the text.
	Excerpt string `json:"excerpt"`
}

const maxDifferences = 1000

// labelOf is the label of an item without its text.
type labelOf struct {
	label, confidence string
	text              uint64 // hash
}

// Agree compares two corpora of one kind by the IDs of their items. It returns the first error of
// either.
func Agree(first, second iter.Seq2[Item, error], kind CorpusKind) (*Agreement, error) {
	seed := maphash.MakeSeed()
	others := map[string]labelOf{}
	for item, err := range second {
		if err != nil {
			return nil, err
		}
		others[item.ID] = labelOf{item.Label, confidence(&item), maphash.String(seed, item.Text)}
	}
	a := &Agreement{Differences: []Difference{}}
	labels, positive := newClasses(kind.Labels()), newClasses([]string{kind.Labels()[0], "others"})
	for item, err := range first {
		if err != nil {
			return nil, err
		}
		other, ok := others[item.ID]
		delete(others, item.ID)
		switch {
		case !ok:
			a.OnlyFirst++
			continue
		case other.text != maphash.String(seed, item.Text):
			a.Changed++
			continue
		}
		labels.add(item.Label, other.label)
		positive.add(orOthers(positive.labels, item.Label), orOthers(positive.labels, other.label))
		if item.Label != other.label && len(a.Differences) < maxDifferences {
			a.Differences = append(a.Differences, Difference{
				ID: clip(item.ID, maxName), First: item.Label, FirstConfidence: confidence(&item),
				Second: other.label, SecondConfidence: other.confidence, Excerpt: excerpt(item.Text, len(item.Text)),
			})
		}
	}
	a.OnlySecond = len(others)
	a.Classes, a.Positive = labels.agreement(), positive.agreement()
	return a, nil
}

func orOthers(labels []string, label string) string {
	if slices.Contains(labels, label) {
		return label
	}
	return labels[len(labels)-1]
}

// agreement returns the table with the exact interval of kappa, which two annotators who agree on
// all of a few items have, too.
func (c *classes) agreement() Classes {
	agreed := 0
	for i, row := range c.counts {
		agreed += row[i]
	}
	return Classes{
		Labels: c.labels, Counts: c.counts, Agreement: proportion(agreed, c.n),
		Kappa: valueOf(stat.KappaInterval(c.counts, stat.Level)),
	}
}
