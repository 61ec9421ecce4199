package main

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/corpus"
	"github.com/rehearse-dev/rehearse/harness/detect"
)

// The detectors of reflections.
const (
	reflectionRule = "reflection"
	overlapRule    = "overlap"
)

// shippedReflections names the reflections that are within the program.
const shippedReflections = "reflections"

// claim is what one part of the command line says of the kind of the items.
type claim struct {
	who  string
	kind corpus.Kind
}

// claims are those of the corpora and labels that are named.
func claims(corpora, positive []string) []claim {
	var all []claim
	for _, name := range corpora {
		switch name {
		case shippedCorpus:
			all = append(all, claim{"the corpus " + name, corpus.Messages})
		case shippedReflections:
			all = append(all, claim{"the corpus " + name, corpus.Reflections})
		}
	}
	for _, label := range positive {
		for _, kind := range corpus.Kinds() {
			if slices.Contains(kind.Labels(), label) {
				all = append(all, claim{"the label " + label, kind})
			}
		}
	}
	return all
}

// defaultDetector is the one for what the rest of the command line is about.
func defaultDetector(corpora, positive []string) string {
	if all := claims(corpora, positive); len(all) > 0 && all[0].kind == corpus.Reflections {
		return reflectionRule
	}
	return "guard"
}

// kindOfItems is what all parts of the command line agree on; messages if none
// says anything.
func kindOfItems(corpora, positive []string, detectors []detect.Detector) (corpus.Kind, error) {
	all := claims(corpora, positive)
	for _, d := range detectors {
		if kind, ok := detect.KindOf(d); ok {
			all = append(all, claim{"the detector " + d.Name(), kind})
		}
	}
	if len(all) == 0 {
		return corpus.Messages, nil
	}
	for _, c := range all[1:] {
		if c.kind != all[0].kind {
			return all[0].kind, fmt.Errorf("%s is of %s and %s of %s; name what goes together", all[0].who, all[0].kind, c.who, c.kind)
		}
	}
	return all[0].kind, nil
}
