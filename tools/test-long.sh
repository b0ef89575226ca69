#!/usr/bin/env bash
# make test-long: the tests under the race detector with what takes minutes: a hundred rounds of the race for one ask, and
# then, without it, a million mutated inputs.
. "$(dirname "$0")/parts.sh"

missing=$(emulator_missing)
[ -z "$missing" ] || refuse "The tests over DynamoDB need $missing"

test_tools
part 'start the emulated AWS' emulator_up
part 'long tests' env MASH_LONG=1 MASH_REQUIRE_ALL=1 RACE_ROUNDS=100 "$bin/gotestcount" -race -count=1 -timeout 60m ./...
part 'a million mutants' env MUTANTS=1000000 "$bin/gotestcount" -count=1 -timeout 60m -run TestShapeAgreesWithSchemas ./schema

finish
