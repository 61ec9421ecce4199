package scenarios

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// digest computes the digest of a scenario from its parts, and keeps the hash of each file among them.
type digest struct {
	sum   hash.Hash
	files map[string]string
}

func newDigest() *digest { return &digest{sum: sha256.New(), files: map[string]string{}} }

// part adds a part with its length, so that different lists of parts have different digests.
func (d *digest) part(text []byte) {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(text)))
	d.sum.Write(length[:])
	d.sum.Write(text)
}

// file adds the content of a file. name is its path from the scenario's folder.
func (d *digest) file(name string, content []byte) {
	d.part(content)
	d.named(name, content)
}

// named keeps the hash of a file without adding it to the digest.
func (d *digest) named(name string, content []byte) {
	sum := sha256.Sum256(content)
	d.files[name] = hex.EncodeToString(sum[:])
}

func (d *digest) String() string { return "sha256:" + hex.EncodeToString(d.sum.Sum(nil)) }
