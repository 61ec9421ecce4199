package container

import (
	"archive/tar"
	"io"
	"net/netip"
)

// Unpack writes an archive of a folder into another one.
func Unpack(archive io.Reader, folder string, files int, size int64) error {
	return unpack(tar.NewReader(archive), folder, files, size)
}

// Empty removes everything in a folder.
func Empty(folder string) error { return empty(folder) }

// Listen starts a relay; it returns its port and how it is closed.
func Listen(host, target string, from func(netip.Addr) bool) (port string, closing func() error, err error) {
	r, err := listen(host, target, from)
	if err != nil {
		return "", nil, err
	}
	return r.port(), r.Close, nil
}

// Environ are the variables for a container that calls this machine by a name, and how
// many addresses are passed on.
func Environ(host string, pairs ...string) (env map[string]string, relays int, closing func(), err error) {
	n := network{host: host, bind: "127.0.0.1", from: func(netip.Addr) bool { return true }}
	env, err = n.environ(pairs)
	return env, len(n.relays), func() {
		for _, r := range n.relays {
			_ = r.Close()
		}
	}, err
}

// Workspace are the paths in a container of the files of a folder.
func Workspace(folder string) (paths map[string]int64, err error) {
	files, err := workspace(folder)
	paths = map[string]int64{}
	for _, f := range files {
		paths[f.ContainerFilePath] = f.FileMode
	}
	return paths, err
}
