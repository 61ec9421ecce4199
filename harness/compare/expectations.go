package compare

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/harness/record"
)

// maxExpectation limits the length of an expectation, in characters. A longer text is stored as its
// beginning and its hash.
const maxExpectation = 160

// expectationsOf returns the expectations and settings of a scenario as text. The digest covers the rest of
// its files.
func expectationsOf(s *record.Scenario) (map[string]string, error) {
	all := map[string]string{
		"agent": s.Agent, "backend": s.Backend, "clock": "virtual", "digest": s.Digest, "price": priced(s),
		"seed": strconv.FormatUint(s.Seed, 10), "trials": strconv.Itoa(s.Trials),
	}
	if s.Model != "" {
		all["model"] = s.Model
	}
	if s.RealTime {
		all["clock"] = "real"
	}
	expect, err := json.Marshal(s.Expect)
	if err != nil {
		return nil, fmt.Errorf("read the expectations of %s: %w", s.Name, err)
	}
	for name, part := range map[string]json.RawMessage{"expect": expect, "limits": s.Limits} {
		if err := flatten(all, name, part); err != nil {
			return nil, fmt.Errorf("read the %s of %s: %w", name, s.Name, err)
		}
	}
	for name, list := range map[string][]string{"invariants": s.Invariants, "perturb": s.Perturb} {
		for i, text := range list {
			all[fmt.Sprintf("%s[%d]", name, i)] = text
		}
	}
	for key, text := range all {
		all[key] = short(text)
	}
	return all, nil
}

// Expected returns what a scenario expects, such as "cost at most 0.01 EUR", and its invariants,
// in order.
func Expected(s *record.Scenario) (list []string) {
	all, err := expectationsOf(s)
	if err != nil {
		return []string{"unreadable: " + err.Error()}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		name, expects := strings.CutPrefix(key, "expect.")
		if expects || strings.HasPrefix(key, "invariants[") {
			list = append(list, name+" "+all[key])
		}
	}
	return list
}

// Settings returns the agent's settings in force as text, by their names.
func Settings(s *record.Scenario) (map[string]string, error) {
	all := map[string]string{}
	if err := flatten(all, "limits", s.Limits); err != nil {
		return nil, fmt.Errorf("read the settings of %s: %w", s.Name, err)
	}
	named := make(map[string]string, len(all))
	for key, text := range all {
		named[strings.TrimPrefix(key, "limits.")] = short(text)
	}
	return named, nil
}

// priced returns the price of the scenario's model as text, without its date, which does not change
// a cost.
func priced(s *record.Scenario) string {
	q := s.Price
	if q == nil {
		return "unknown"
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return fmt.Sprintf("%s in, %s cached, %s written, %s out %s a million, %s EUR a USD",
		number(q.Input), number(q.CachedIn), number(q.CacheWrite), number(q.Output), q.Currency, number(q.EURPerUSD))
}

// flatten adds the values of a JSON object to all, each under its path. Empty, zero and false
// values expect nothing and are left out, except an exit code of 0.
func flatten(all map[string]string, path string, part json.RawMessage) error {
	if len(part) == 0 {
		return nil
	}
	decoder := json.NewDecoder(strings.NewReader(string(part)))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	flattenValue(all, path, value)
	return nil
}

func flattenValue(all map[string]string, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		if words := limitWords(v); words != "" {
			all[path] = words
			return
		}
		for key, inner := range v {
			flattenValue(all, path+"."+key, inner)
		}
	case []any:
		for i, inner := range v {
			flattenValue(all, fmt.Sprintf("%s[%d]", path, i), inner)
		}
	case nil:
	case json.Number:
		if text := v.String(); text != "0" || path == "expect.exit_code" {
			all[path] = text
		}
	case bool:
		if v {
			all[path] = "true"
		}
	case string:
		if v != "" && (v != "0s" || strings.HasPrefix(path, "expect.")) {
			all[path] = v
		}
	}
}

// limitWords formats a limit of expect.Count, such as "at least 1 and at most 3". It returns "" for
// any other object.
func limitWords(object map[string]any) string {
	var words []string
	for _, limit := range []struct{ key, word string }{{"exactly", "exactly"}, {"at_least", "at least"}, {"at_most", "at most"}} {
		if value, ok := object[limit.key]; ok {
			words = append(words, fmt.Sprintf("%s %v", limit.word, value))
		}
	}
	if len(words) != len(object) {
		return ""
	}
	return strings.Join(words, " and ")
}

// short returns a text of at most maxExpectation characters that is unique to the given text.
func short(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if utf8.RuneCountInString(text) <= maxExpectation {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%s… (%d bytes, sha256:%s)", string([]rune(text)[:maxExpectation/2]), len(text), hex.EncodeToString(sum[:6]))
}

// Gates returns the hash of the expectations of all scenarios. It changes with any expectation, and
// when a scenario is added or removed.
func (b *Baseline) Gates() string {
	sum := sha256.New()
	for i := range b.Scenarios {
		s := &b.Scenarios[i]
		fmt.Fprintf(sum, "%q\n", s.Name)
		for _, key := range slices.Sorted(maps.Keys(s.Expectations)) {
			fmt.Fprintf(sum, "%q=%q\n", key, s.Expectations[key])
		}
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}
