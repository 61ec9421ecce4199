package http

// OfferPorts sets the next free ports.
func OfferPorts(next ...int) {
	ports.free = func() (int, error) {
		if len(next) == 0 {
			return free()
		}
		port := next[0]
		next = next[1:]
		return port, nil
	}
}

// ReservedPorts returns the number of reserved ports.
func ReservedPorts() int { return len(ports.taken) }
