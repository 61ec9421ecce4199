package container

import (
	"archive/tar"
	"errors"
	"io"
	"net/netip"
)

// Unpack writes an archive of a folder into another one.
func Unpack(archive io.Reader, folder string, files int, size int64) error {
	return unpack(tar.NewReader(archive), folder, files, size)
}

// Empty removes everything in a folder.
func Empty(folder string) error { return empty(folder) }

// Listen starts a relay and returns its port and a function that closes it.
func Listen(host, target string, from func(netip.Addr) bool) (port string, closing func() error, err error) {
	r, err := listen(host, target, from)
	if err != nil {
		return "", nil, err
	}
	return r.port(), r.Close, nil
}

// Environ returns the variables for a container that reaches this machine by a name, and the number
// of relayed addresses.
func Environ(host string, pairs ...string) (env map[string]string, relays int, closing func(), err error) {
	n := network{host: host, bind: "127.0.0.1", from: func(netip.Addr) bool { return true }}
	env, err = n.environ(pairs)
	return env, len(n.relays), func() {
		for _, r := range n.relays {
			_ = r.Close()
		}
	}, err
}

// Packed returns the names and modes of the files of a folder that are copied into a container.
func Packed(folder string) (files map[string]int64, err error) { return list(packWorkspace(folder)) }

// BuildContext returns the names and modes of the entries of the context of a build.
func BuildContext(folder string) (files map[string]int64, err error) {
	archive, err := buildContext(folder)
	if err != nil {
		return nil, err
	}
	return list(archive)
}

func list(archive io.ReadCloser) (map[string]int64, error) {
	defer archive.Close()
	files := map[string]int64{}
	for from := tar.NewReader(archive); ; {
		head, err := from.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		files[head.Name] = head.Mode
	}
}
