package evaluate

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/detect"
)

// claim is the kind of items that one part of a request implies.
type claim struct {
	by   string
	kind detect.CorpusKind
}

// claims returns the kinds that the named corpora and labels imply.
func claims(corpora, positive []string) []claim {
	var all []claim
	for _, name := range corpora {
		switch name {
		case ShippedMessages:
			all = append(all, claim{"the corpus " + name, detect.Messages})
		case ShippedReflections:
			all = append(all, claim{"the corpus " + name, detect.Reflections})
		}
	}
	for _, label := range positive {
		for _, kind := range detect.CorpusKinds() {
			if slices.Contains(kind.Labels(), label) {
				all = append(all, claim{"the label " + label, kind})
			}
		}
	}
	return all
}

// defaultDetector returns the detector for the kind of items that is asked for.
func defaultDetector(corpora, positive []string) string {
	if all := claims(corpora, positive); len(all) > 0 && all[0].kind == detect.Reflections {
		return reflectionRule
	}
	return "guard"
}

// kindOfItems returns the kind that all parts of a request agree on; messages if none
// implies one.
func kindOfItems(corpora, positive []string, detectors []detect.Detector) (detect.CorpusKind, error) {
	all := claims(corpora, positive)
	for _, d := range detectors {
		if kind, ok := detect.KindOf(d); ok {
			all = append(all, claim{"the detector " + d.Name(), kind})
		}
	}
	if len(all) == 0 {
		return detect.Messages, nil
	}
	first := all[0]
	for _, c := range all[1:] {
		if c.kind != first.kind {
			return first.kind, fmt.Errorf("%s is of %s and %s of %s; name what goes together", first.by, first.kind, c.by, c.kind)
		}
	}
	return first.kind, nil
}
