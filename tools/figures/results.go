package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/perf/benchfmt"
)

const module = "github.com/rehearse-dev/rehearse/"

// results are runs of benchmarks, in the order in which they were run.
type results []*benchfmt.Result

// keyOf returns the package and the name of a benchmark, without the number of processors.
func keyOf(r *benchfmt.Result) [2]string {
	name := string(r.Name)
	if _, parts := r.Name.Parts(); len(parts) > 0 {
		if last := string(parts[len(parts)-1]); strings.HasPrefix(last, "-") {
			name = strings.TrimSuffix(name, last)
		}
	}
	return [2]string{strings.TrimPrefix(r.GetConfig("pkg"), module), name}
}

// parseResults parses the output of benchmarks. It skips other lines, and returns an error for a malformed result.
func parseResults(name string, text []byte) (all results, err error) {
	reader := benchfmt.NewReader(bytes.NewReader(text), name)
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.Result:
			all = append(all, rec.Clone())
		case *benchfmt.SyntaxError:
			return nil, rec
		}
	}
	return all, reader.Err()
}

// storeOf returns the file with the results of a page.
func storeOf(page string) string { return strings.TrimSuffix(page, ".md") + ".txt" }

func readResults(page string) (results, error) {
	text, err := os.ReadFile(storeOf(page))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the results: %w", err)
	}
	return parseResults(storeOf(page), text)
}

// write stores results. Values that differ only by their unit's prefix are written as they were measured.
func (all results) write(page string) error {
	var out bytes.Buffer
	writer := benchfmt.NewWriter(&out)
	for _, r := range all {
		if err := writer.Write(r); err != nil {
			return fmt.Errorf("write results: %w", err)
		}
	}
	return os.WriteFile(storeOf(page), out.Bytes(), 0o644) //nolint:gosec // it is committed
}

// replacedBy returns the results of both, without those of all whose benchmark was measured again.
func (all results) replacedBy(newer results) results {
	again := map[[2]string]bool{}
	for _, r := range newer {
		again[keyOf(r)] = true
	}
	var kept results
	for _, r := range all {
		if !again[keyOf(r)] {
			kept = append(kept, r)
		}
	}
	return append(kept, newer...)
}

// of returns the runs of a metric: its values, and where each run was measured.
func (all results) of(m metric) (values []float64, where []string) {
	for _, r := range all {
		if keyOf(r) != [2]string{m.pkg, m.bench} {
			continue
		}
		if v, ok := r.Value(m.unit); ok {
			values, where = append(values, v), append(where, conditionsOf(r))
		}
	}
	return values, where
}

// conditionsOf returns a sentence about the machine of a result.
func conditionsOf(r *benchfmt.Result) string {
	get := func(key string) string {
		if v := r.GetConfig(key); v != "" {
			return v
		}
		return "unknown"
	}
	return fmt.Sprintf("Measured on %s: %s, %s cores, load %s before, %s %s/%s, commit %s", get("date"), get("cpu"), get("cores"),
		get("load"), get("go"), get("goos"), get("goarch"), get("commit"))
}
