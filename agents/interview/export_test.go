package interview

// Queued is how many submissions hold or wait for a session.
func (s *Service) Queued(id string) int {
	s.locks.mu.Lock()
	defer s.locks.mu.Unlock()
	if l := s.locks.keys[id]; l != nil {
		return l.users
	}
	return 0
}
