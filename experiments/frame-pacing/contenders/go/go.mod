module kumite/pacing

go 1.25
