package scripted

import "net"

// listen accepts connections of that listener.
func (s *Server) listen(listener net.Listener) {
	s.mu.Lock()
	s.listener = listener
	s.mu.Unlock()
	go func() { _ = s.http.Serve(&gate{Listener: listener, faults: s.faults}) }()
}

// Kill resets the connections of all members and refuses others, as when the server's process ends.
func (s *Server) Kill() {
	s.mu.Lock()
	_ = s.listener.Close()
	s.mu.Unlock()
	s.Reset(1)
}

// Restart accepts connections again at the same address. No client is a member any more.
func (s *Server) Restart() error {
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		return err
	}
	s.listen(listener)
	return nil
}

// Reset resets the connection of each n-th member, as when one of several workers ends, and returns how many it reset.
func (s *Server) Reset(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	number, reset := 0, 0
	for _, b := range s.boards {
		for _, m := range b.snapshot() {
			if number++; number%n == 0 {
				_ = m.conn.NetConn().(*net.TCPConn).SetLinger(0) // close sends RST
				_ = m.conn.Close()
				reset++
			}
		}
	}
	return reset
}
