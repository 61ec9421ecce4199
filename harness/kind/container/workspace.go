package container

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/rehearse-dev/rehearse/harness/app"
)

// workspaceInside is the workspace's path in a container.
const workspaceInside = "/workspace"

// The limits on files that are read back from the workspace of a container.
const (
	maxFiles = 10_000
	maxBytes = 256 << 20
)

// collect replaces the files of the site's folder by those of the container's workspace. The container may have ended.
func (p *place) collect(ctx context.Context) error {
	if p.site.Folder == "" {
		return nil
	}
	if err := empty(p.site.Folder); err != nil {
		return err
	}
	copied, err := p.docker.CopyFromContainer(ctx, p.name, client.CopyFromContainerOptions{SourcePath: workspaceInside})
	if errdefs.IsNotFound(err) {
		return nil // the application has removed it, or never had one
	}
	if err != nil {
		return err
	}
	defer copied.Content.Close()
	return unpack(tar.NewReader(copied.Content), p.site.Folder, maxFiles, maxBytes)
}

// empty removes everything in a folder. Links are removed and not followed.
func empty(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, entry := range entries {
		err = errors.Join(err, root.RemoveAll(entry.Name()))
	}
	return err
}

// unpack writes the regular files of an archive of one folder into an empty folder. It skips
// links, devices and the folders that tools fill. An archive with more files or bytes is an
// error, and so is a name that leaves the folder.
func unpack(from *tar.Reader, folder string, files int, size int64) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for {
		head, err := from.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		_, name, _ := strings.Cut(path.Clean(head.Name), "/") // without the name of the folder
		if head.Typeflag != tar.TypeReg && head.Typeflag != tar.TypeLink || isSkipped(name) {
			continue
		}
		if files, size = files-1, size-head.Size; files < 0 || size < 0 {
			return fmt.Errorf("there are more than %d files or %d MiB in %s", maxFiles, maxBytes>>20, workspaceInside)
		}
		if err := unpackFile(from, head, root, name); err != nil {
			return fmt.Errorf("write the file %q: %w", name, err)
		}
	}
}

// isSkipped reports whether a path is in a folder that is not recorded.
func isSkipped(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), app.Filled)
}

// unpackFile writes one file, or a hard link to an earlier one.
func unpackFile(from io.Reader, head *tar.Header, root *os.Root, name string) error {
	file := filepath.FromSlash(name)
	if err := root.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if head.Typeflag == tar.TypeLink {
		_, earlier, _ := strings.Cut(path.Clean(head.Linkname), "/")
		return root.Link(filepath.FromSlash(earlier), file)
	}
	to, err := root.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
