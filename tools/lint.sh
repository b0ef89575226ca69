#!/usr/bin/env bash
# make lint: golangci-lint over the module, over tools and over infra.
. "$(dirname "$0")/parts.sh"

echo 'The first time, golangci-lint itself is built; that takes a minute or two.'
part 'lint the module' go tool -modfile=tools/go.mod golangci-lint run ./...
part 'lint tools' go -C tools tool golangci-lint run ./...
part 'lint infra' in_infra go tool -modfile=../tools/go.mod golangci-lint run ./...

finish
