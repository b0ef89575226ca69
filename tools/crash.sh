#!/usr/bin/env bash
# make crash ROUNDS=n: kill -9 under writers, and nothing that was acknowledged is lost.
. "$(dirname "$0")/parts.sh"

test_tools
part "crash, ${ROUNDS:-40} rounds" env CRASH_ROUNDS="${ROUNDS:-40}" \
	"$bin/gotestcount" -count=1 -timeout 20m -tags crash -run '^TestCrash' ./cmd/mash

finish
