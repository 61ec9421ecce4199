package grammar

// Bound lets the machine keep so many states and edges only, a power of two.
func (g *Grammar) Bound(states, edges int) { g.machine.Store(newMachine(g, states, edges)) }
