module github.com/golops/golops

go 1.26
