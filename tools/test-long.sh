#!/usr/bin/env bash
# make test-long: the tests under the race detector with what takes minutes: two hundred rounds of the races for one ask and
# for one session; and then, without it, ten thousand random lives of mailboxes and a million mutated inputs.
. "$(dirname "$0")/parts.sh"

missing=$(emulator_missing)
[ -z "$missing" ] || refuse "The tests over DynamoDB need $missing"

test_tools
part 'start the emulated AWS' emulator_up
part 'long tests' env MASH_LONG=1 MASH_REQUIRE_ALL=1 RACE_ROUNDS=200 "$bin/gotestcount" -race -count=1 -timeout 60m ./...
part 'ten thousand mailboxes' "$bin/gotestcount" -count=1 -timeout 60m -run TestMailIsAsTheModelSays ./pkg/hub -rapid.checks=10000 -rapid.steps=40
part 'a million mutants' env MUTANTS=1000000 "$bin/gotestcount" -count=1 -timeout 60m -run TestShapeAgreesWithSchemas ./schema

finish
