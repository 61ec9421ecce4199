package main

import shipped "github.com/rehearse-dev/rehearse/kinds"

// agentKinds are the kinds of agents that the program knows.
var agentKinds = shipped.All()
