#!/usr/bin/env bash
# make test: what can be run with what is here, without root. Go and make are enough; the rest is left out and listed.
. "$(dirname "$0")/parts.sh"

test_tools

missing=$(emulator_missing)
if [ -n "$missing" ]; then
	left_out 'the tests over DynamoDB, on an emulated AWS' "$missing"
elif ! emulator_up; then
	left_out 'the tests over DynamoDB, on an emulated AWS' 'a way for pip to install it; what it said stands above'
fi

part 'go vet' go vet ./...
part 'tests' "$bin/gotestcount" -timeout 15m ./...

if have node; then
	quiet_cdk
	part 'templates of the stack' in_infra "../$bin/gotestcount" -timeout 15m ./...
else
	left_out 'the tests of the stack on AWS' 'Node, in which the CDK runs (Debian: nodejs)'
fi

left_out 'the pages in a real browser' 'make browser'
left_out 'the race detector, lint, cfn-lint, behaviours, crashes and the deployed stack' 'make check, which runs everything'
finish
