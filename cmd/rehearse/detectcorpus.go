package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/harness/corpus"
	"github.com/rehearse-dev/rehearse/reports/detection"
)

// shippedCorpus names the messages that are within the program.
const shippedCorpus = "shipped"

// corpusFile is a corpus on its way through a run.
type corpusFile struct {
	name string
	open func(context.Context) (io.ReadCloser, error)
	told func() detection.Corpus
	read *corpusRead
}

// corpusRead is what was read of a corpus so far.
type corpusRead struct {
	items, bad int
	hash       hash.Hash
	whole      bool // read to its end
}

func newCorpusFile(name string, open func(context.Context) (io.ReadCloser, error)) corpusFile {
	read := &corpusRead{hash: sha256.New()}
	return corpusFile{name: name, open: open, read: read, told: func() detection.Corpus {
		c := detection.Corpus{Name: name, Items: read.items, Bad: read.bad}
		if read.whole {
			c.Digest = fmt.Sprintf("sha256:%x", read.hash.Sum(nil))
		}
		return c
	}}
}

// openCorpora finds the corpora that are named, so that a typing error is told
// before a detector is asked anything.
func (a *app) openCorpora(names []string, kind corpus.Kind) ([]corpusFile, error) {
	switch {
	case len(names) > 0:
	case kind == corpus.Reflections:
		names = []string{shippedReflections}
	default:
		names = []string{shippedCorpus}
	}
	var files []corpusFile
	var errs []error
	for _, name := range names {
		switch name {
		case shippedCorpus:
			shipped, err := shippedCorpora(fixtures.Stops, "stops", name)
			files, errs = append(files, shipped...), append(errs, err)
		case shippedReflections:
			shipped, err := shippedCorpora(fixtures.Reflections, "reflections", name)
			files, errs = append(files, shipped...), append(errs, err)
		case "-":
			files = append(files, newCorpusFile("(standard input)", func(ctx context.Context) (io.ReadCloser, error) {
				return interruptible(ctx, a.stdin), nil
			}))
		default:
			info, err := os.Stat(name)
			if err == nil && info.IsDir() {
				err = fmt.Errorf("%s is a folder; name its files, such as %s/*.jsonl", name, strings.TrimRight(name, "/"))
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("read the corpus: %w", err))
				continue
			}
			files = append(files, newCorpusFile(name, func(ctx context.Context) (io.ReadCloser, error) {
				return openInterruptible(ctx, name)
			}))
		}
	}
	return files, errors.Join(errs...)
}

// shippedCorpora are those in a folder of what is embedded, named after where the
// user finds them.
func shippedCorpora(within fs.FS, folder, called string) ([]corpusFile, error) {
	names, err := fs.Glob(within, folder+"/*.jsonl")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var files []corpusFile
	for _, name := range names {
		files = append(files, newCorpusFile(called+strings.TrimPrefix(name, folder), func(context.Context) (io.ReadCloser, error) {
			return within.Open(name)
		}))
	}
	return files, nil
}

// openInterruptible opens a file. Reading a pipe or a device may last for ever,
// so that one can be interrupted.
func openInterruptible(ctx context.Context, name string) (io.ReadCloser, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		return file, nil
	}
	return interruptible(ctx, file), nil
}

// interruptible reads r until ctx ends. What is under way then is left behind.
func interruptible(ctx context.Context, r io.Reader) io.ReadCloser {
	out, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, r)
		_ = in.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { _ = out.CloseWithError(clock.Err(ctx)) })
	return out
}

// items reads the corpora one after another and yields the items that are
// selected, and whatever is wrong in between.
func (p detectPlan) items(ctx context.Context) iter.Seq2[corpus.Item, error] {
	return func(yield func(corpus.Item, error) bool) {
		for _, file := range p.corpora {
			if !file.selected(ctx, p, yield) {
				return
			}
		}
	}
}

// selected reports whether the next file may follow.
func (c corpusFile) selected(ctx context.Context, p detectPlan, yield func(corpus.Item, error) bool) bool {
	in, err := c.open(ctx)
	if err != nil {
		return yield(corpus.Item{}, fmt.Errorf("open the corpus: %w", err))
	}
	defer in.Close()
	for item, err := range corpus.Read(io.TeeReader(in, c.read.hash), c.name, p.kind) {
		switch _, isLine := errors.AsType[*corpus.LineError](err); {
		case isLine:
			c.read.bad++
		case err != nil:
			return yield(item, err)
		case !p.selection.has(item):
			continue
		default:
			c.read.items++
		}
		if !yield(item, err) {
			return false
		}
	}
	c.read.whole = true
	return true
}

// selection is which items are scored: for each field one of its values.
type selection map[string][]string

// selectors are the fields of an item by which it can be selected.
var selectors = map[string]func(corpus.Item) []string{
	"id":         func(it corpus.Item) []string { return []string{it.ID} },
	"lang":       func(it corpus.Item) []string { return []string{it.Lang} },
	"label":      func(it corpus.Item) []string { return []string{it.Label} },
	"category":   func(it corpus.Item) []string { return it.Categories },
	"tag":        func(it corpus.Item) []string { return it.Tags },
	"part":       func(it corpus.Item) []string { return []string{it.Part} },
	"repo":       func(it corpus.Item) []string { return []string{it.Repo} },
	"confidence": func(it corpus.Item) []string { return []string{orHigh(it.Confidence)} },
}

func orHigh(confidence string) string {
	if confidence == "" {
		return corpus.Confidences()[0]
	}
	return confidence
}

// selectorNames are the fields, sorted.
func selectorNames() []string {
	var names []string
	for name := range selectors {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func selectorStarts() []string {
	starts := []string{"confidence=high", "lang=en", "lang=fr"}
	for _, name := range selectorNames() {
		starts = append(starts, name+"=")
	}
	return starts
}

// parseSelection reads key=value. Several values of one key are alternatives;
// several keys must all hold.
func parseSelection(only []string) (selection, error) {
	s := selection{}
	for _, pair := range only {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("--only %q is not of the form confidence=high", pair)
		}
		if key == "language" {
			key = "lang"
		}
		if selectors[key] == nil {
			return nil, fmt.Errorf("--only %q: %w", pair, notAmong("field", key, selectorNames()))
		}
		s[key] = append(s[key], value)
	}
	return s, nil
}

// has reports whether an item is selected.
func (s selection) has(item corpus.Item) bool {
	for key, values := range s {
		if !slices.ContainsFunc(selectors[key](item), func(v string) bool { return slices.Contains(values, v) }) {
			return false
		}
	}
	return true
}
