module kumite/kit

go 1.22
