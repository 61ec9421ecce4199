package http

// OfferPorts makes these the next ports that are found to be free.
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

// ReservedPorts is how many ports are handed out.
func ReservedPorts() int { return len(ports.taken) }
