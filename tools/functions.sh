#!/usr/bin/env bash
# make functions: every Lambda function as a zip under bin/functions/ARCHITECTURE, for this machine's or that of GOARCH.
. "$(dirname "$0")/parts.sh"

out=bin/functions/$(go env GOARCH)
cache=$PWD/.tools/zips/$(go env GOARCH)

build() {
	CGO_ENABLED=0 GOOS=linux go build -tags lambda.norpc -trimpath -buildvcs=false -ldflags '-s -w -buildid=' \
		-o "$scratch/functions/" ./functions/...
}

# A program that has not changed is not packed again.
pack() {
	mkdir -p "$cache" && env -u GOOS -u GOARCH go -C tools build -o "../$bin/" ./lambdazip &&
		"$bin/lambdazip" -cache "$cache" "$scratch/functions"
}

put() { rm -rf "$out" && mkdir -p "${out%/*}" && mv "$scratch/functions" "$out"; }

part 'build the functions' build
part 'pack them, at most 6 MB each' pack
if [ "$failed" -eq 0 ]; then part "put them under $out" put; fi # whole or not at all

finish
