//go:build !linux

package drive

import "net"

// trialNetwork is a network of one trial, which only Linux can create.
type trialNetwork struct{}

// newTrialNetwork fails: only Linux has network namespaces.
func newTrialNetwork(func(name string)) (*trialNetwork, error) { return nil, errNoNetwork }

// Within fails.
func (*trialNetwork) Within(func() error) error { return errNoNetwork }

func (*trialNetwork) listen() (net.Listener, error) { return nil, errNoNetwork }

// Close does nothing.
func (*trialNetwork) Close() error { return nil }
