package format_test

import (
	"bytes"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/format"
)

func TestNumbersHaveTheDigitsThatCount(t *testing.T) {
	for want, got := range map[string]string{
		"12,345": format.Number(12345), "-1,234": format.Number(-1234), "-999": format.Number(-999), "1,234,567.50": format.Money(1234567.5),
		"123k": format.Number(123_456), "1.50": format.Money(1.5), "0.00123": format.Money(0.001234),
		"1.00": format.Significant(0.9996), "450ms": format.Seconds(0.45), "12µs": format.Seconds(12e-6), "4h 0m": format.Seconds(14400),
		"1m 6s": format.Seconds(66.04217), "1m 0s": format.Seconds(59.999999999), "59.9s": format.Seconds(59.94), "1h 0m": format.Seconds(3599.7),
		"66.7 %": format.Percent(2.0 / 3), "100 %": format.Percent(1), "= 0.004": format.PValue(0.004), "< 0.0001": format.PValue(1e-9),
		"17.0 points": format.Amount(0.17, format.Points), "1.50 EUR": format.Amount(1.5, "EUR"), "24.2": format.Amount(24.2, ""),
		"-3": format.Signed(-3, format.Number), "+3": format.Signed(3, format.Number), "0": format.Signed(0, format.Number),
		"-1m 30s": format.Seconds(-90), "0s": format.Seconds(0), "1s": format.Seconds(0.99999), "1.25s": format.Seconds(1.2512),
		"1 item": format.Plural(1, "item"), "0 items": format.Plural(0, "item"),
		"1234 items": format.Plural(1234, "item"), "1,234 items": format.Count(1234, "item"), "1 call": format.Count(1, "call"),
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestJSONIsIndentedAndLeavesMarkupAlone(t *testing.T) {
	var out bytes.Buffer
	if err := format.JSON(&out, map[string]string{"b": "<x>", "a": ""}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "{\n  \"a\": \"\",\n  \"b\": \"<x>\"\n}\n" {
		t.Errorf("%q", got)
	}
}

func TestMarshalWritesTheSameOnOneLine(t *testing.T) {
	got, err := format.Marshal(map[string]any{"b": "<\xff", "a": []int{1, 2}})
	if want := `{"a":[1,2],"b":"<` + "\ufffd" + `"}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}
