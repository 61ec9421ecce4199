package container

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// pack streams a folder as a tar archive, below a path in the container. Entries for which
// skip returns true are left out, and so is everything that is not a folder, a regular file
// or a link. The caller must close the stream.
func pack(folder, below string, skip func(rel string, entry fs.DirEntry) (bool, error)) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		archive := tar.NewWriter(w)
		err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || name == folder {
				return err
			}
			rel, err := filepath.Rel(folder, name)
			if err != nil {
				return err
			}
			rel = filepath.ToSlash(rel)
			if skipped, err := skip(rel, entry); skipped || err != nil {
				return err
			}
			return packEntry(archive, name, path.Join(below, rel))
		})
		if err == nil { // otherwise the trailer would hide the error
			err = archive.Close()
		}
		_ = w.CloseWithError(err)
	}()
	return r
}

// packEntry writes one file, folder or link.
func packEntry(archive *tar.Writer, name, inside string) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	link := ""
	switch mode := info.Mode(); {
	case mode.IsRegular(), mode.IsDir():
	case mode.Type() == fs.ModeSymlink:
		if link, err = os.Readlink(name); err != nil {
			return err
		}
	default:
		return nil
	}
	head, err := tar.FileInfoHeader(info, filepath.ToSlash(link))
	if err != nil {
		return err
	}
	head.Name, head.Uid, head.Gid, head.Uname, head.Gname = inside, 0, 0, "", ""
	if err := archive.WriteHeader(head); err != nil || !info.Mode().IsRegular() {
		return err
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(archive, file)
	return errors.Join(err, file.Close())
}

// buildContext streams the folder of a Dockerfile without what its .dockerignore excludes.
func buildContext(folder string) (io.ReadCloser, error) {
	if _, err := os.Stat(filepath.Join(folder, "Dockerfile")); err != nil {
		return nil, err
	}
	var patterns []string
	ignore, err := os.Open(filepath.Join(folder, ".dockerignore"))
	switch {
	case err == nil:
		defer ignore.Close()
		if patterns, err = ignorefile.ReadAll(ignore); err != nil {
			return nil, fmt.Errorf("read .dockerignore: %w", err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	excluded, err := patternmatcher.New(patterns)
	if err != nil {
		return nil, fmt.Errorf("read .dockerignore: %w", err)
	}
	return pack(folder, "", func(rel string, entry fs.DirEntry) (bool, error) {
		if rel == "Dockerfile" || rel == ".dockerignore" { // the daemon reads them
			return false, nil
		}
		skip, err := excluded.MatchesOrParentMatches(rel)
		if skip && err == nil && entry.IsDir() && !excluded.Exclusions() {
			return true, fs.SkipDir
		}
		return skip, err
	}), nil
}

// packWorkspace streams the regular files of the workspace.
func packWorkspace(folder string) io.ReadCloser {
	return pack(folder, workspaceInside, func(_ string, entry fs.DirEntry) (bool, error) {
		return !entry.Type().IsRegular(), nil
	})
}
