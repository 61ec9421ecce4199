package evaluate

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
	"strings"

	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/input"
)

// The names of the corpora that are part of the program.
const (
	ShippedMessages    = "shipped"
	ShippedReflections = "reflections"
)

// corpus is one corpus of a plan. Its figures grow while it is read.
type corpus struct {
	Name string
	// Items were selected; Bad lines have no item.
	Items, Bad int

	open func(context.Context) (io.ReadCloser, error)
	hash hash.Hash
	read bool // to its end
}

func newCorpus(name string, open func(context.Context) (io.ReadCloser, error)) *corpus {
	return &corpus{Name: name, open: open, hash: sha256.New()}
}

// digest returns the hash of the corpus with the name of its function; empty if it was
// not read to its end.
func (c *corpus) digest() string {
	if !c.read {
		return ""
	}
	return fmt.Sprintf("sha256:%x", c.hash.Sum(nil))
}

// openCorpora finds the named corpora, so that a typing error is reported before a
// detector is called. Without names it is the shipped corpus of the kind.
func openCorpora(names []string, kind detect.CorpusKind, stdin io.Reader) ([]*corpus, error) {
	switch {
	case len(names) > 0:
	case kind == detect.Reflections:
		names = []string{ShippedReflections}
	default:
		names = []string{ShippedMessages}
	}
	var corpora []*corpus
	var errs []error
	for _, name := range names {
		found, err := openCorpus(name, stdin)
		corpora, errs = append(corpora, found...), append(errs, err)
	}
	return corpora, errors.Join(errs...)
}

func openCorpus(name string, stdin io.Reader) ([]*corpus, error) {
	switch name {
	case ShippedMessages:
		return shipped(fixtures.Stops, "stops", name)
	case ShippedReflections:
		return shipped(fixtures.Reflections, "reflections", name)
	case "-":
		return []*corpus{newCorpus("(standard input)", func(ctx context.Context) (io.ReadCloser, error) {
			return input.Interruptible(ctx, stdin), nil
		})}, nil
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the corpus: there is no file %s; name a file, %s, %s or -", name, ShippedMessages, ShippedReflections)
	case err == nil && info.IsDir():
		err = fmt.Errorf("%s is a folder; name its files, such as %s/*.jsonl", name, strings.TrimRight(name, "/"))
	}
	if err != nil {
		return nil, fmt.Errorf("read the corpus: %w", err)
	}
	return []*corpus{newCorpus(name, func(ctx context.Context) (io.ReadCloser, error) { return input.Open(ctx, name) })}, nil
}

// shipped returns the embedded corpora of a folder, with the name by which users know
// it in place of the folder's.
func shipped(within fs.FS, folder, called string) ([]*corpus, error) {
	names, err := fs.Glob(within, folder+"/*.jsonl") // sorted
	if err != nil {
		return nil, err
	}
	var corpora []*corpus
	for _, name := range names {
		corpora = append(corpora, newCorpus(called+strings.TrimPrefix(name, folder), func(context.Context) (io.ReadCloser, error) {
			return within.Open(name)
		}))
	}
	return corpora, nil
}

// Items reads the corpora one after another and yields the selected items, and the
// errors in between.
func (p *Plan) Items(ctx context.Context) iter.Seq2[detect.Item, error] {
	return func(yield func(detect.Item, error) bool) {
		if p.kept != nil {
			for _, r := range p.kept {
				if !yield(r.item, r.err) {
					return
				}
			}
			return
		}
		for _, c := range p.corpora {
			if !c.items(ctx, p, yield) {
				return
			}
		}
	}
}

// items reports whether the next corpus may follow.
func (c *corpus) items(ctx context.Context, p *Plan, yield func(detect.Item, error) bool) bool {
	in, err := c.open(ctx)
	if err != nil {
		return yield(detect.Item{}, fmt.Errorf("open the corpus: %w", err))
	}
	defer in.Close()
	for item, err := range detect.ReadCorpus(io.TeeReader(in, c.hash), c.Name, p.Scoring.Kind) {
		switch _, isLine := errors.AsType[*detect.LineError](err); {
		case isLine:
			c.Bad++
		case err != nil:
			return yield(item, err)
		case !p.selection.selects(item):
			continue
		default:
			c.Items++
		}
		if !yield(item, err) {
			return false
		}
	}
	c.read = true
	return true
}
