package compare

import (
	"fmt"
	"math"
	"strconv"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/format"
)

func failing(rule, format string, args ...any) gate.Finding {
	return gate.Finding{Severity: gate.Failing, Rule: rule, Message: fmt.Sprintf(format, args...)}
}

func broken(rule, format string, args ...any) gate.Finding {
	return gate.Finding{Severity: gate.Broken, Rule: rule, Message: fmt.Sprintf(format, args...)}
}

func info(rule, format string, args ...any) gate.Finding {
	return gate.Finding{Severity: gate.Info, Rule: rule, Message: fmt.Sprintf(format, args...)}
}

// rank puts the gravest severity first.
func rank(s gate.Severity) int {
	switch s {
	case gate.Info:
		return 3
	case gate.Skipped:
		return 2
	case gate.Failing:
		return 1
	default:
		return 0
	}
}

// points is the unit in which differences of rates are shown: hundredths.
const points = "points"

// amount is a value with its unit.
func amount(v float64, unit string) string {
	switch unit {
	case "s":
		return format.Seconds(v)
	case "":
		return format.Number(v)
	case points:
		return strconv.FormatFloat(100*v, 'f', 1, 64) + " points"
	default:
		return format.Money(v) + " " + unit
	}
}

// seen says what a measure was and is.
func seen(before, now float64, unit string) string {
	return amount(before, unit) + " before and " + amount(now, unit) + " now"
}

// signed is a difference with its unit.
func signed(v float64, unit string) string {
	if v >= 0 {
		return "+" + amount(v, unit)
	}
	return "-" + amount(-v, unit)
}

// share is a difference relative to a value: "+12 %".
func share(d, of float64) string {
	r := d / math.Abs(of)
	if math.IsNaN(r) || math.IsInf(r, 0) {
		return "from nothing"
	}
	if math.Abs(r) >= 9.995 { // three digits would need an exponent
		return fmt.Sprintf("%+.0f %%", 100*r)
	}
	return fmt.Sprintf("%+.3g %%", 100*r)
}

// limit is a relative limit: "5 %".
func limit(r float64) string { return strconv.FormatFloat(100*r, 'g', 6, 64) + " %" }

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func dated(date string) string {
	if date == "" {
		return "no date"
	}
	return date
}

func quoted(text string) string {
	if text == "" {
		return "not given"
	}
	return strconv.Quote(text)
}
