//go:build !linux

package egress

import "net"

// Network is a network of a trial's own. There is none here.
type Network struct{}

// NewNetwork fails: only Linux has network namespaces.
func NewNetwork(func(name string)) (*Network, error) { return nil, errNoNetwork }

// Within fails.
func (*Network) Within(func() error) error { return errNoNetwork }

// Listen fails.
func (*Network) Listen() (net.Listener, error) { return nil, errNoNetwork }

// Close does nothing.
func (*Network) Close() error { return nil }
