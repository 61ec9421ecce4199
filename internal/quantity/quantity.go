// Package quantity reads and writes the two quantities of scenario and configuration
// files: durations ("1m30s") and money ("0.01 EUR").
package quantity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a time.Duration that reads and writes as Go duration text ("2s",
// "150ms", "4h") in YAML and JSON. It is never negative.
type Duration time.Duration

// Std returns d as a time.Duration.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String is the text form of time.Duration.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf(`%q is not a duration; write a number and a unit, such as "2s", "150ms" or "1h30m"`, text)
	}
	if v < 0 {
		return fmt.Errorf("%q is a negative duration", text)
	}
	*d = Duration(v)
	return nil
}

// Money is an amount in a currency, written "0.01 EUR".
type Money struct {
	Amount   float64
	Currency Currency
}

// Currency is an ISO 4217 code; only those with a dated rate are known.
type Currency string

// The currencies that the price table converts between.
const (
	EUR Currency = "EUR"
	USD Currency = "USD"
)

// In returns m in another currency at the rate eurPerUSD, in EUR for one USD. It
// reports false if that takes a rate and none (0) is given, or the currency is
// not known.
func (m Money) In(c Currency, eurPerUSD float64) (amount float64, ok bool) {
	switch {
	case m.Currency == c:
		return m.Amount, true
	case eurPerUSD <= 0:
		return 0, false
	case m.Currency == USD && c == EUR:
		return m.Amount * eurPerUSD, true
	case m.Currency == EUR && c == USD:
		return m.Amount / eurPerUSD, true
	}
	return 0, false
}

// IsZero reports whether no amount was given.
func (m Money) IsZero() bool { return m == Money{} }

// String is the amount with as many digits as it needs, and the currency.
func (m Money) String() string {
	return strconv.FormatFloat(m.Amount, 'f', -1, 64) + " " + string(m.Currency)
}

// MarshalText implements encoding.TextMarshaler.
func (m Money) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *Money) UnmarshalText(text []byte) error {
	amount, code, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	v, err := strconv.ParseFloat(amount, 64)
	cur := Currency(strings.TrimSpace(code))
	if err != nil || math.IsNaN(v) || v < 0 || v > 1e12 || (cur != EUR && cur != USD) {
		return fmt.Errorf(`%q is not an amount of money; write it as "0.01 EUR" or "0.01 USD"`, text)
	}
	*m = Money{Amount: v, Currency: cur}
	return nil
}
