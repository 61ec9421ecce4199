package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"sync"
)

// header is the first line of a journal. It explains the format to a reader.
const header = "rehearse-journal/1: on each line its checksum (CRC-32C), the number of its first record, " +
	"and records that were added together, with tabs between them\n"

// headerPrefix begins the header of every version.
const headerPrefix = "rehearse-journal/"

// maxLine is the size of the longest line that Append writes.
const maxLine = maxAppend + 64

var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

func checksum(data []byte) uint32 { return crc32.Checksum(data, castagnoli()) }

// appendLine appends a line with records, the first of which has the given number. All records of one
// Append share a line and its checksum, so that they are read together or not at all.
func appendLine(buf []byte, number int, records [][]byte) (_ []byte, sum uint32) {
	start := len(buf)
	buf = append(buf, "00000000 "...)
	buf = strconv.AppendInt(buf, int64(number), 10)
	for i, record := range records {
		buf = append(buf, " \t"[min(i, 1)])
		buf = append(buf, record...)
	}
	sum = checksum(buf[start+9:])
	putSum(buf[start:], sum)
	return append(buf, '\n'), sum
}

// putSum writes a sum as eight hexadecimal digits.
func putSum(to []byte, sum uint32) {
	hex.Encode(to, binary.BigEndian.AppendUint32(nil, sum))
}

// cutSum removes the checksum from the front of data.
func cutSum(data []byte) (sum uint32, rest []byte, ok bool) {
	if len(data) < 9 || data[8] != ' ' {
		return 0, nil, false
	}
	var digits [4]byte
	if _, err := hex.Decode(digits[:], data[:8]); err != nil || bytes.ContainsAny(data[:8], "ABCDEF") {
		return 0, nil, false
	}
	return binary.BigEndian.Uint32(digits[:]), data[9:], true
}

// openSum removes and verifies the checksum.
func openSum(data []byte) (rest []byte, sum uint32, ok bool) {
	sum, rest, ok = cutSum(data)
	return rest, sum, ok && checksum(rest) == sum
}

// line is a line of a journal with a valid checksum.
type line struct {
	number  int    // of the first record
	records []byte // with tabs between them
	sum     uint32
}

// parseLine parses a line without its newline. It returns false if Append did not write it.
func parseLine(text []byte) (l line, ok bool) {
	rest, sum, good := openSum(text)
	if !good {
		return line{}, false
	}
	number, records, found := bytes.Cut(rest, []byte(" "))
	n, err := strconv.Atoi(string(number))
	if !found || err != nil || len(records) == 0 {
		return line{}, false
	}
	return line{number: n, records: records, sum: sum}, true
}

// each calls record for each record of a line and returns their number.
func (l line) each(record func(number int, data []byte) error) (int, error) {
	n := 0
	for data := range bytes.SplitSeq(l.records, []byte("\t")) {
		if err := record(l.number+n, data); err != nil {
			return n, fmt.Errorf("take record %d: %w", l.number+n, err)
		}
		n++
	}
	return n, nil
}

// The kinds of files with one checksum.
const (
	kindSnapshot = "rehearse-snapshot/1"
	kindBlob     = "rehearse-blob/1"
)

// mark identifies a journal up to a record: the number of records, and the checksum of the last
// line, or 0.
type mark struct {
	records int
	sum     uint32
}

func (m mark) String() string { return fmt.Sprintf("records=%d line=%08x", m.records, m.sum) }

// seal returns the content of a file: a line with the checksum of the rest, the kind and a note, and
// then the data.
func seal(kind, note string, data []byte) []byte {
	sealed := fmt.Appendf(make([]byte, 0, len(data)+96), "00000000 %s %s\n", kind, note)
	sealed = append(sealed, data...)
	putSum(sealed, checksum(sealed[9:]))
	return sealed
}

// unseal returns the note and the data of a file of a kind.
func unseal(kind string, sealed []byte) (note string, data []byte, err error) {
	rest, _, ok := openSum(sealed)
	if !ok {
		return "", nil, fmt.Errorf("its checksum does not match its %d bytes", len(sealed))
	}
	first, data, _ := bytes.Cut(rest, []byte("\n"))
	got, note, _ := strings.Cut(string(first), " ")
	if got != kind {
		return "", nil, fmt.Errorf("it is a %q, not a %s", got, kind)
	}
	return note, data, nil
}

func parseMark(note string) (mark, error) {
	var m mark
	if _, err := fmt.Sscanf(note, "records=%d line=%x", &m.records, &m.sum); err != nil || m.String() != note {
		return mark{}, fmt.Errorf("it does not name the records that it covers (%q)", note)
	}
	return m, nil
}
