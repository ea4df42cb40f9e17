module location

go 1.26

require (
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3
	github.com/gobwas/ws v1.5.0
)

require github.com/gobwas/httphead v0.1.0 // indirect
