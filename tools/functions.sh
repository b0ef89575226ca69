#!/usr/bin/env bash
# make functions: every Lambda function as a zip under bin/functions/ARCHITECTURE, for this machine's or that of GOARCH.
. "$(dirname "$0")/parts.sh"

out=bin/functions/$(go env GOARCH)

build() {
	rm -rf "$out"
	mkdir -p "$out"
	CGO_ENABLED=0 GOOS=linux go build -tags lambda.norpc -trimpath -buildvcs=false -ldflags '-s -w -buildid=' -o "$out/" ./functions/...
}

pack() {
	env -u GOOS -u GOARCH go -C tools build -o "../$bin/" ./lambdazip && "$bin/lambdazip" "$out"
}

part 'build the functions' build
part 'pack them, at most 6 MB each' pack

finish
