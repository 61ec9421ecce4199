package format_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/format"
)

func line(i int) string { return fmt.Sprintf("line %d\n", i) }

func TestAPageHoldsWhatFitsAndCountsTheRest(t *testing.T) {
	p := format.Page{Left: 200}
	p.Head("title\n")
	format.Lines(&p, "lines", make([]int, 1000), func(int) string { return "0123456789\n" })
	p.Head(strings.Repeat("too long", 30))
	got := p.String()
	if len(got) > 200 {
		t.Errorf("%d bytes of 200", len(got))
	}
	// 200 - 6 for the title - 80 kept free leave 114: ten lines of 11 bytes.
	if want := "title\n" + strings.Repeat("0123456789\n", 10) + "\n… and 990 more lines\n"; got != want {
		t.Errorf("%q", got)
	}
}

func TestAPageHoldsAllIfThereIsRoom(t *testing.T) {
	p := format.Page{Left: 1000}
	format.Lines(&p, "lines", []int{1, 2}, line)
	if got := p.String(); got != "line 1\nline 2\n" {
		t.Errorf("%q", got)
	}
}

func TestNumbersHaveTheDigitsThatCount(t *testing.T) {
	for want, got := range map[string]string{
		"12345": format.Number(12345), "123k": format.Number(123_456), "1.50": format.Money(1.5), "0.00123": format.Money(0.001234),
		"1.00": format.Significant(0.9996), "450ms": format.Seconds(0.45), "12µs": format.Seconds(12e-6), "4h 0m": format.Seconds(14400),
		"1m 6s": format.Seconds(66.04217), "1m 0s": format.Seconds(59.999999999), "59.9s": format.Seconds(59.94), "1h 0m": format.Seconds(3599.7),
		"-1m 30s": format.Seconds(-90), "0s": format.Seconds(0), "1s": format.Seconds(0.99999), "1.25s": format.Seconds(1.2512),
		"1 item": format.Plural(1, "item"), "0 items": format.Plural(0, "item"),
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

func TestATableAlignsItsFirstColumnsToTheLeft(t *testing.T) {
	got := format.Table(1, []string{"name", "n"}, [][]string{{"`a`", "1"}, {"`b`", "22"}})
	if want := "\n| name | n |\n|---|--:|\n| `a` | 1 |\n| `b` | 22 |\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
