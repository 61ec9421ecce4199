package page

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"strconv"
	"strings"
)

// packer stores rendered blocks compressed. Transcripts repeat each other's prompts, so each
// distinct line is stored once; a block is a line with the numbers of its lines. The page's
// script unpacks a block when it is opened.
type packer struct {
	spool *spool
	seen  map[[16]byte]int
	lines int // stored so far
	chunk bytes.Buffer
	from  int // the first line of the chunk
	// chunks are stored in the spool, each with its first line.
	chunks []chunk
	err    error
}

// chunk is a compressed range of lines.
type chunk struct {
	from int
	text piece
}

// chunkBytes is the size from which lines are compressed: small enough to open a block at once.
const chunkBytes = 256 << 10

// ownID replaces the id of a block in its links and ids: blocks that differ only in it share
// lines. Rendered text does not contain it.
const ownID = "\x01"

// add stores a block and returns its number.
func (p *packer) add(block []byte, id string) (n int, err error) {
	text := string(block)
	for _, before := range []string{` id="`, ` href="#`} {
		text = strings.ReplaceAll(text, before+id, before+ownID)
	}
	var runs []byte
	first, last := -1, -1
	flush := func() {
		if first < 0 {
			return
		}
		if runs != nil {
			runs = append(runs, ' ')
		}
		runs = strconv.AppendInt(runs, int64(first), 10)
		if last > first {
			runs = strconv.AppendInt(append(runs, '+'), int64(last-first), 10)
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		at := p.line(line)
		if at == last+1 && first >= 0 {
			last = at
			continue
		}
		flush()
		first, last = at, at
	}
	flush()
	return p.line(string(runs)), p.err
}

// line returns the number of a line, which it stores if it is new.
func (p *packer) line(text string) int {
	sum := sha256.Sum256([]byte(text))
	key := [16]byte(sum[:])
	if n, ok := p.seen[key]; ok {
		return n
	}
	if p.seen == nil {
		p.seen = map[[16]byte]int{}
	}
	n := p.lines
	p.seen[key] = n
	p.lines++
	p.chunk.WriteString(text)
	p.chunk.WriteByte('\n')
	if p.chunk.Len() >= chunkBytes {
		p.flush()
	}
	return n
}

// pending estimates the size of the lines that are not compressed yet.
func (p *packer) pending() int { return p.chunk.Len() / 3 }

// flush compresses the collected lines.
func (p *packer) flush() {
	if p.chunk.Len() == 0 || p.err != nil {
		return
	}
	var out bytes.Buffer
	to := base64.NewEncoder(base64.StdEncoding, &out)
	w, err := flate.NewWriter(to, flate.DefaultCompression)
	if err != nil {
		panic(err) // the level is valid
	}
	_, _ = w.Write(p.chunk.Bytes()) // a buffer takes everything
	_ = w.Close()
	_ = to.Close()
	text, err := p.spool.add(out.Bytes())
	if err != nil {
		p.err = fmt.Errorf("keep compressed details for the page: %w", err)
		return
	}
	p.chunks = append(p.chunks, chunk{p.from, text})
	p.chunk.Reset()
	p.from = p.lines
}

// folded is the inside of a block: inert for a page with a script until the block is opened.
type folded struct {
	// Plain is the markup; empty if it is packed.
	Plain template.HTML
	// Packed is the number of a packed block.
	Packed int
}

// fold keeps a block plain while there is room for that, or packs it.
func (b *Builder) fold(block []byte, id string, c class) (folded, error) {
	room := b.limit / plainShare[c]
	if b.plain+len(block) <= min(room, maxPlain[c]) {
		b.plain += len(block)
		return folded{Plain: template.HTML(block)}, nil //nolint:gosec // rendered by a template
	}
	n, err := b.pack.add(block, id)
	return folded{Packed: n}, err
}

// The details that are readable without a script, in bytes and as a share of the page: those of
// failures, then of others.
var (
	maxPlain   = [classes]int{failing: 1_500_000, first: 750_000, further: 500_000}
	plainShare = [classes]int{failing: 3, first: 6, further: 8}
)
