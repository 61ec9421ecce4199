module example.com/translator

go 1.26

require github.com/rehearse-dev/rehearse v0.0.0

replace github.com/rehearse-dev/rehearse => ../..
