package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
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

// rank orders severities, the worst first; others are as bad as gate.Broken.
func rank(s gate.Severity) int {
	return slices.Index([]gate.Severity{gate.Failing, gate.Skipped, gate.Info}, s)
}

// seen formats the values of a measure before and now.
func seen(before, now float64, unit string) string {
	return format.Amount(before, unit) + " before and " + format.Amount(now, unit) + " now"
}

// share formats a difference relative to a value: "+12 %".
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

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func dated(date string) string {
	return cmp.Or(date, "an unknown date")
}

func quoted(text string) string {
	if text == "" {
		return "not given"
	}
	return strconv.Quote(text)
}
