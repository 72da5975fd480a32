module contender

go 1.22
