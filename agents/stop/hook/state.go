package hook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

const (
	schema = "rehearse.guard/1"
	// maxMemory is the size in bytes of the largest file that is read.
	maxMemory = 16 << 10
	// Files of sessions are swept when a new session begins: the oldest when there
	// are more than maxSessions, down to keptSessions, to make sweeps rare.
	maxAge       = 30 * 24 * time.Hour
	maxSessions  = 1000
	keptSessions = 900

	lockName   = ".lock"
	lockPoll   = 2 * time.Millisecond
	tempSuffix = ".tmp"
)

// key returns the name of a session in the state folder and in logs. It is a hash, so no text
// of the host gets into a path.
func (in input) key() string { return digest(string(in.host), in.session) }

// messageHash identifies a message within its session, without the blanks around it.
// Equal messages of two sessions have different hashes.
func (in input) messageHash() string { return digest(in.key(), strings.TrimSpace(in.message)) }

func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:", len(part))
		_, _ = io.WriteString(h, part) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// store has one file for each session.
type store struct {
	dir string
	now time.Time
}

func openStore(cfg Config) (*store, error) {
	dir, err := stateFolder(cfg.State)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the state folder: %w; choose another one with --state", err)
	}
	return &store{dir: dir, now: cfg.Clock.Now()}, nil
}

func stateFolder(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the state folder: %w; name one with --state", err)
	}
	return filepath.Join(cache, "rehearse", "guard"), nil
}

// update changes the memory of a session. One lock protects the folder, for a fraction of a
// millisecond.
func (s *store) update(ctx context.Context, in input, change func(*memory)) error {
	lock := flock.New(filepath.Join(s.dir, lockName), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return fmt.Errorf("lock the state folder %s: %w; choose another one with --state", s.dir, err)
	}
	name := in.key() + ".json"
	m := s.read(name)
	fresh := !m.known
	change(&m)
	err := s.write(name, m)
	if fresh && err == nil {
		err = s.sweep(name)
	}
	// The lock file stays: another process may wait for it.
	if err := errors.Join(err, lock.Unlock()); err != nil {
		return fmt.Errorf("remember the stop: %w; name a folder that can be written with --state", err)
	}
	return nil
}

// read returns the memory in a file. A file that cannot be read, or has another format, counts
// as missing.
func (s *store) read(name string) (m memory) {
	path := filepath.Join(s.dir, name)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxMemory {
		return memory{}
	}
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &m) != nil || m.Schema != schema || m.Blocks < 0 {
		return memory{}
	}
	m.known = true
	return m
}

// write replaces the file of a session as a whole.
func (s *store) write(name string, m memory) (err error) {
	m.Schema = schema
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(s.dir, name+".*"+tempSuffix)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}()
	_, err = temp.Write(append(data, '\n'))
	if err := errors.Join(err, temp.Close()); err != nil {
		return err
	}
	// The sweep goes by this time, which is the clock's.
	if err := os.Chtimes(temp.Name(), s.now, s.now); err != nil {
		return err
	}
	return os.Rename(temp.Name(), filepath.Join(s.dir, name))
}

var ours = lazyregexp.New(`^[0-9a-f]{32}\.json(\.[^/]*\.tmp)?$`)

// sweep removes old files of ours, and the oldest of too many. Looking at the age
// of a thousand files takes milliseconds, so only one session in 16 sweeps,
// selected by its name, which is a hash.
func (s *store) sweep(fresh string) error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	if len(entries) <= maxSessions && fresh[0] != '0' {
		return nil
	}
	type file struct {
		name string
		at   time.Time
	}
	var files []file
	for _, e := range entries {
		if !e.Type().IsRegular() || !ours().MatchString(e.Name()) || e.Name() == fresh {
			continue
		}
		if info, err := e.Info(); err == nil {
			files = append(files, file{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return b.at.Compare(a.at) })
	room := len(files)
	if room >= maxSessions {
		room = keptSessions
	}
	for i, f := range files {
		age := s.now.Sub(f.at)
		left := strings.HasSuffix(f.name, tempSuffix) && age > time.Hour
		if i < room && age <= maxAge && !left {
			continue
		}
		if err := os.Remove(filepath.Join(s.dir, f.name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
