module contender

go 1.22

require kumite/kit v0.0.0

replace kumite/kit => ../../kits/go
