module example.invalid/program

go 1.21
