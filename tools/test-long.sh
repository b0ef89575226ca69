#!/usr/bin/env bash
# make test-long: the tests with MASH_LONG=1, at which some do far more rounds, under the race detector.
. "$(dirname "$0")/parts.sh"

missing=$(emulator_missing)
[ -z "$missing" ] || refuse "The tests over DynamoDB need $missing"

test_tools
part 'start the emulated AWS' emulator_up
part 'long tests' env MASH_LONG=1 MASH_REQUIRE_ALL=1 "$bin/gotestcount" -race -count=1 -timeout 60m ./...

finish
