module kumite/fileio

go 1.25

require kumite/kit v0.0.0

replace kumite/kit => ../../../../kits/go
