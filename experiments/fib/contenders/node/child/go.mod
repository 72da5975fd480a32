module kumite/fib-child

go 1.25
