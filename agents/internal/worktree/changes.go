package worktree

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Kind is the kind of a change of a file.
type Kind string

// The kinds of changes. A renamed file is deleted and added.
const (
	Added   Kind = "added"
	Changed Kind = "changed"
	Deleted Kind = "deleted"
)

// Change is the change of one file.
type Change struct {
	Path string `json:"path"` // relative to the top folder, with slashes
	Kind Kind   `json:"kind"`
	// Added and Deleted count lines; both are 0 for a binary file.
	Added   int  `json:"added"`
	Deleted int  `json:"deleted"`
	Binary  bool `json:"binary,omitempty"`
}

// Changes is the difference between two states.
type Changes struct {
	// Files are the changed files, sorted by path, at most MaxChanges.
	Files []Change `json:"files,omitempty"`
	// Count is the number of all changed files, Added and Deleted the numbers of their lines.
	Count   int `json:"count"`
	Added   int `json:"added"`
	Deleted int `json:"deleted"`
}

// MaxChanges limits Changes.Files.
const MaxChanges = 100

// String returns a summary such as "2 files, +10 −3".
func (c Changes) String() string {
	if c.Count == 0 {
		return "no files"
	}
	noun := "files"
	if c.Count == 1 {
		noun = "file"
	}
	return fmt.Sprintf("%d %s, +%d −%d", c.Count, noun, c.Added, c.Deleted)
}

// Changes compares two states of this tree. The states must be from this Tree or from a checkpoint.
func (t *Tree) Changes(ctx context.Context, from, to State) (Changes, error) {
	if from.Tree == to.Tree {
		return Changes{}, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	out, err := t.own(ctx, "", "diff-tree", "-r", "-z", "--raw", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv",
		from.Tree, to.Tree)
	if err != nil {
		return Changes{}, fmt.Errorf("compare two states of the git work tree %s: %w", t.dir, err)
	}
	return parseChanges(out)
}

// parseChanges reads the output of diff-tree: a record ":modes ids status", its path, and after all of
// these a record "added<tab>deleted<tab>path" for each file.
func parseChanges(out string) (Changes, error) {
	kinds := map[string]Kind{}
	var c Changes
	records := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i < len(records); i++ {
		record := records[i]
		if strings.HasPrefix(record, ":") {
			i++
			if i == len(records) {
				return Changes{}, fmt.Errorf("git diff-tree printed %q without a path", record)
			}
			kinds[records[i]] = kindOf(record[strings.LastIndexByte(record, ' ')+1:])
			continue
		}
		fields := strings.SplitN(record, "\t", 3)
		if len(fields) != 3 {
			return Changes{}, fmt.Errorf("git diff-tree printed %q", record)
		}
		c.add(Change{Path: fields[2], Kind: kinds[fields[2]], Binary: fields[0] == "-"}, fields[0], fields[1])
	}
	return c, nil
}

func (c *Changes) add(change Change, added, deleted string) {
	change.Added, _ = strconv.Atoi(added) // "-" in a binary file
	change.Deleted, _ = strconv.Atoi(deleted)
	c.Count++
	c.Added += change.Added
	c.Deleted += change.Deleted
	if len(c.Files) < MaxChanges {
		c.Files = append(c.Files, change)
	}
}

func kindOf(status string) Kind {
	switch status {
	case "A":
		return Added
	case "D":
		return Deleted
	default:
		return Changed // "M", "T"
	}
}
