#!/usr/bin/env bash
# make bench-aws: how large the functions are and how soon they are ready, and requests to the deployed hub against requests
# to an empty function at the same endpoint. It deploys to the emulated AWS first, and ends that one if it started it.
. "$(dirname "$0")/parts.sh"

stack=${AWS_HOME:-$PWD/.tools/aws}-stack.json

build() {
	mkdir -p "$scratch/empty" &&
		CGO_ENABLED=0 go build -tags lambda.norpc -trimpath -buildvcs=false -ldflags '-s -w -buildid=' \
			-o "$scratch/empty/" ./localstack/empty &&
		go -C tools build -o "../$bin/" ./lambdazip ./lambdainit ./awsbench &&
		"$bin/lambdazip" "$scratch/empty"
}

part 'start the emulated AWS' emulator_up
part 'deploy' tools/aws-deploy.sh
if [ "$failed" -eq 0 ]; then
	part 'build the empty function' build
	part 'size and start of each function' "$bin/lambdainit" -stack "$stack" "bin/functions/$(go env GOARCH)"
	part 'requests, against an empty function' "$bin/awsbench" -stack "$stack" -empty "$scratch/empty/empty.zip"
fi

finish
