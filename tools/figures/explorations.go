package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/result"
)

// The marks around the table of explorations.
const (
	begin = "<!-- figures: explorations; make explorations -->\n"
	end   = ending + "\n"
	head  = "| golden path | runs | survived | degraded | failed | could not happen |\n|---|--:|--:|--:|--:|--:|\n"
)

// explorations compares the table in a page with the results in folders, and with write replaces it.
func explorations(page string, write bool, folders []string) error {
	if len(folders) == 0 {
		return errors.New("name the folders of explorations")
	}
	rows := make([]string, len(folders))
	for i, folder := range folders {
		file, err := os.Open(filepath.Join(folder, "explore.json"))
		if err != nil {
			return fmt.Errorf("open the exploration: %w", err)
		}
		found, err := result.ReadExploration(file)
		_ = file.Close() // it was only read
		if err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
		rows[i] = explorationRow(&found)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	if !write {
		return compare(string(text), rows)
	}
	changed, err := replace(string(text), rows)
	if err != nil {
		return err
	}
	if err := os.WriteFile(page, []byte(changed), 0o600); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// explorationRow returns the row of an exploration.
func explorationRow(r *result.Exploration) string {
	n := r.Count()
	total := 0
	for _, count := range n {
		total += count
	}
	return fmt.Sprintf("| `%s` | %d | %d | %d | %d | %d |\n",
		r.Scenario, total, n[result.Survived], n[result.Degraded], n[result.Failed], n[result.Unfired])
}

// table returns the part of a page between the marks.
func table(page string) (before, inside, after string, err error) {
	before, rest, ok := strings.Cut(page, begin)
	inside, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", "", "", errors.New("the page has no marks around a table of explorations")
	}
	return before, inside, after, nil
}

func replace(page string, rows []string) (string, error) {
	before, _, after, err := table(page)
	return before + begin + "\n" + head + strings.Join(rows, "") + "\n" + end + after, err
}

// compare returns an error that names each row that the page does not have.
func compare(page string, rows []string) error {
	_, inside, _, err := table(page)
	if err != nil {
		return err
	}
	var missing []string
	for _, r := range rows {
		if !strings.Contains(inside, r) {
			missing = append(missing, r)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the page has other figures than these; run make explorations:\n%s", strings.Join(missing, ""))
	}
	return nil
}
