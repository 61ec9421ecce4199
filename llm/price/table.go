package price

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// Table finds quotes by the name of the model. It is immutable and safe for
// concurrent use.
type Table struct {
	// Date of the table (YYYY-MM-DD); individual quotes may be older.
	Date string
	// EURPerUSD is the exchange rate of RateDate, which all quotes carry.
	EURPerUSD float64
	RateDate  string

	quotes  map[string]Quote  // without the rate
	aliases map[string]string // to the name in quotes
}

// Default returns the shipped table, which the first call reads.
var Default = sync.OnceValues(func() (*Table, error) {
	t := &Table{quotes: map[string]Quote{}, aliases: map[string]string{}}
	if err := t.read("prices.yaml", fixtures.Prices); err != nil {
		return nil, fmt.Errorf("reading the shipped price table: %w", err)
	}
	return t, nil
})

// Load returns the shipped table, with entries replaced by those of a user's file. The file has the form of
// the shipped one; its rate, if any, replaces the shipped rate for all models. The error lists all errors
// with file name, line, column and the nearest valid word.
func Load(name string, data []byte) (*Table, error) {
	shipped, err := Default()
	if err != nil {
		return nil, err
	}
	t := *shipped
	t.quotes, t.aliases = maps.Clone(shipped.quotes), maps.Clone(shipped.aliases)
	if err := t.read(name, data); err != nil {
		return nil, fmt.Errorf("reading the price table: %w", err)
	}
	return &t, nil
}

// Quote returns the prices of a model; false if they are unknown.
//
// It looks up the name unchanged, then without its date ("gpt-4.1-mini-2025-04-14",
// "claude-haiku-4-5-20251001") and without its provider ("openai/gpt-4.1-mini",
// "models/gemini-2.5-pro").
func (t *Table) Quote(model string) (Quote, bool) {
	prefix, rest, cut := strings.Cut(model, "/")
	for _, name := range []string{model, undated(model)} {
		if q, ok := t.find(name); ok {
			return q, true
		}
	}
	if !cut {
		return Quote{}, false
	}
	for _, name := range []string{rest, undated(rest)} {
		if q, ok := t.find(name); ok && (prefix == q.Provider || prefix == "models") {
			return q, true
		}
	}
	return Quote{}, false
}

func (t *Table) find(name string) (Quote, bool) {
	if to, ok := t.aliases[name]; ok {
		name = to
	}
	q, ok := t.quotes[name]
	q.EURPerUSD, q.RateDate = t.EURPerUSD, t.RateDate
	return q, ok
}

var snapshot = lazyregexp.New(`-20\d\d-?[01]\d-?[0-3]\d$`)

func undated(model string) string { return snapshot().ReplaceAllString(model, "") }

// SameModel reports whether two names differ only in a date at the end or a provider at the beginning, and
// therefore have one price.
func SameModel(a, b string) bool {
	return a == b || bare(a) == bare(b)
}

func bare(model string) string { return undated(model[strings.LastIndexByte(model, '/')+1:]) }

// Models returns the sorted names of all models with a price.
func (t *Table) Models() []string { return slices.Sorted(maps.Keys(t.quotes)) }

// Nearest returns the name in the table that was probably meant, or "".
func (t *Table) Nearest(model string) string { return suggest.Nearest(model, t.Models()) }

// file is the form of a price table in YAML.
type file struct {
	Compiled string `yaml:"compiled,omitempty"`
	Rate     *rate  `yaml:"rate,omitempty"`
	Lists    []list `yaml:"lists,omitempty"`
}

type rate struct {
	USDPerEUR float64 `yaml:"usd_per_eur"`
	Date      string  `yaml:"date"`
	Source    string  `yaml:"source"`
}

type list struct {
	Provider string            `yaml:"provider"`
	Source   string            `yaml:"source"`
	Date     string            `yaml:"date"`
	Currency string            `yaml:"currency,omitempty" jsonschema:"enum=USD,enum=EUR"`
	Models   map[string]prices `yaml:"models"`
}

type prices struct {
	Input       float64  `yaml:"input" jsonschema:"minimum=0"`
	CachedInput *float64 `yaml:"cached_input,omitempty" jsonschema:"minimum=0"`
	CacheWrite  *float64 `yaml:"cache_write,omitempty" jsonschema:"minimum=0"`
	Output      float64  `yaml:"output" jsonschema:"minimum=0"`
	Aliases     []string `yaml:"aliases,omitempty"`
}

// read adds the entries of a file to the table.
func (t *Table) read(name string, data []byte) error {
	var f file
	if _, wrong := yamlsrc.Decode(name, data, &f); len(wrong) > 0 {
		return wrong
	}
	seen := map[string]bool{}
	for _, l := range f.Lists {
		if err := t.add(name, l, seen); err != nil {
			return err
		}
	}
	if f.Compiled != "" {
		if !isDate(f.Compiled) {
			return fmt.Errorf("%s: compiled: %q is not a date; write it as YYYY-MM-DD", name, f.Compiled)
		}
		t.Date = f.Compiled
	}
	if f.Rate == nil {
		return nil
	}
	if !(f.Rate.USDPerEUR > 0) || !isDate(f.Rate.Date) {
		return fmt.Errorf("%s: rate: usd_per_eur must be above 0 and date a YYYY-MM-DD", name)
	}
	t.EURPerUSD, t.RateDate = 1/f.Rate.USDPerEUR, f.Rate.Date
	return nil
}

// add adds one list; seen are the names that the file has given so far.
func (t *Table) add(name string, l list, seen map[string]bool) error {
	if !isDate(l.Date) {
		return fmt.Errorf("%s: %s: date %q is not a date; write it as YYYY-MM-DD", name, l.Source, l.Date)
	}
	if l.Currency == "" {
		l.Currency = "USD"
	}
	for model, p := range l.Models {
		for _, n := range append([]string{model}, p.Aliases...) {
			if seen[n] {
				return fmt.Errorf("%s: %s is given twice", name, n)
			}
			seen[n] = true
			delete(t.aliases, n)
		}
		q := Quote{
			Model: model, Provider: l.Provider, Currency: l.Currency,
			Input: p.Input, CachedIn: p.Input, CacheWrite: p.Input, Output: p.Output,
			Date: l.Date, Source: l.Source,
		}
		if p.CachedInput != nil {
			q.CachedIn = *p.CachedInput
		}
		if p.CacheWrite != nil {
			q.CacheWrite = *p.CacheWrite
		}
		t.quotes[model] = q
		for _, alias := range p.Aliases {
			t.aliases[alias] = model
		}
	}
	return nil
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}
