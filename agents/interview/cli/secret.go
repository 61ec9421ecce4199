package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/access"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
)

// storeLine stands for the secret of the store in a file of secrets.
const storeLine = "store"

// Secrets returns the secrets of links, codes and cookies: the lines of a file, which is created if it
// does not exist, or without a file the secret that the store keeps. The line "store" stands for the
// secret of the store. The first secret signs, and all verify.
func Secrets(ctx context.Context, file string, st *store.Store) ([]string, error) {
	if file == "" {
		secret, err := st.Secret(ctx, "access")
		if err != nil {
			return nil, &StoreError{err}
		}
		return []string{secret}, nil
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if err = createSecret(file); err == nil || errors.Is(err, fs.ErrExist) { // by another server
			data, err = os.ReadFile(file)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the secret (--secret): %w", err)
	}
	var secrets []string
	for line := range strings.Lines(string(data)) {
		switch line = strings.TrimSpace(line); {
		case line == "" || strings.HasPrefix(line, "#"):
		case line == storeLine:
			kept, err := Secrets(ctx, "", st)
			if err != nil {
				return nil, err
			}
			secrets = append(secrets, kept...)
		default:
			secrets = append(secrets, line)
		}
	}
	if _, err := access.NewKeys(secrets...); err != nil {
		return nil, fmt.Errorf("read the secret of %s (--secret): %w", file, err)
	}
	return secrets, nil
}

// createSecret creates a file with a random secret, readable only by its owner, as a whole or not at all.
func createSecret(file string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), ".secret-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(rand.Text() + rand.Text() + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), file)
}
