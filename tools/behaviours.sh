#!/usr/bin/env bash
# make behaviours: each behaviour of the protocol with the tests that prove it, run over both stores.
. "$(dirname "$0")/parts.sh"

last=83 # behaviours are numbered 1 to this

missing=$(emulator_missing)
[ -z "$missing" ] || refuse "The half over DynamoDB needs $missing"

test_tools
if [ -z "${MASH_DYNAMO_ENDPOINT:-}" ]; then part 'start the emulated AWS' emulator_up; fi
part 'behaviours' env MASH_REQUIRE_ALL=1 "$bin/behaviours" -last "$last" -stores "${STORES:-SQLite,DynamoDB}" -- -count=1 -timeout 20m ./...

finish
