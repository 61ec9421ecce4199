package compare_test

import (
	"bytes"
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/compare"
)

// FuzzRead checks that no file makes Read panic, and that an accepted file equals the output
// of Encode, apart from white space.
func FuzzRead(f *testing.F) {
	gomega.RegisterTestingT(f)
	whole := compare.Encode(sample())
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(bytes.ReplaceAll(whole, []byte("2"), []byte("3")))
	f.Add([]byte(`{"schema": "rehearse.baseline/1", "scenarios": {"a": {"trials": {"planned": -1}}}}`))
	f.Add([]byte("<<<<<<< HEAD\n"))
	f.Add([]byte(`{"schema": "rehearse.baseline/1", "scenarios": {"a": {"bar": {"limits": {"x": "1"}, "limits.x": "1"}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := compare.ReadBaseline("f.json", bytes.NewReader(data))
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a word")
			}
			return
		}
		again := compare.Encode(b)
		back, err := compare.ReadBaseline("f.json", bytes.NewReader(again))
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if !bytes.Equal(compare.Encode(back), again) {
			t.Fatal("the file is another one each time")
		}
	})
}
