module tokenstream

go 1.26
