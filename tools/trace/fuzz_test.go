package main

import (
	"bytes"
	"testing"
)

func FuzzSpecs(f *testing.F) {
	for _, seed := range []string{
		"", "[]", "[{}]", "{}", "[null]", "[] x", `[{"SpecReports":null,"SuiteLabels":["L-01"]}]`,
		`[{"SuiteLabels":["H-08"],"SpecReports":[{"LeafNodeType":"It","LeafNodeText":"t","LeafNodeLabels":["L-05"],` +
			`"ContainerHierarchyTexts":["a"],"ContainerHierarchyLabels":[["L-01"],null],"State":"passed"}]}]`,
		`[{"SpecReports":[{"LeafNodeType":"It","State":{}}]}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		proofs, err := FromSpecs(bytes.NewReader(data))
		if err != nil && proofs != nil {
			t.Fatal("both proofs and an error")
		}
		for _, p := range proofs {
			if len(p.IDs) == 0 || p.Verdict == "" {
				t.Fatalf("a proof that proves nothing: %+v", p)
			}
		}
		if _, err := tableOf(proofs); err != nil {
			t.Fatal(err)
		}
	})
}
