package matrix

// Sets are the CPUs that server and load are bound to, out of those that may be
// used; nil, nil: they run anywhere. In mode auto the server gets the first
// half and the load the others, so that neither takes time from the other.
func (c CPUs) Sets(allowed []int) (server, load []int) {
	switch {
	case c.Mode == CPUsList:
		return c.Server, c.Load
	case c.Mode == CPUsNone || len(allowed) < 2:
		return nil, nil
	}
	half := len(allowed) / 2
	return allowed[:half], allowed[half:]
}
