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

missing=$(browser_missing)
if [ -n "$missing" ]; then
	left_out 'the pages in a real browser' "$missing"
else
	part 'pages in a real browser' tools/browser.sh
fi

# Where the hub is run by many at once, over SQLite, for the emulator would only be waited for. The rest of the tests runs
# under the race detector in make check.
if [ "$(go env CGO_ENABLED)" = 1 ] && have "$(go env CC)"; then
	concurrent=(./pkg/record/... ./pkg/sqlitestore/... ./pkg/hub/... ./pkg/controlapi/... ./pkg/localhub/... ./pkg/realtime/...)
	part 'race detector on the stores and the hub' \
		env -u MASH_DYNAMO_ENDPOINT "$bin/gotestcount" -race -timeout 15m "${concurrent[@]}"
else
	left_out 'the race detector' 'gcc and the C headers (Debian: gcc libc6-dev)'
fi

left_out 'lint, cfn-lint, behaviours, crashes and the deployed stack' 'make check, which runs everything'
finish
