#!/usr/bin/env bash
# make bench: the hub against the floor of its store, and how fast an answer arrives.
. "$(dirname "$0")/parts.sh"

test_tools
part 'bench' env BENCH=1 "$bin/gotestcount" -show -count=1 -timeout 20m -tags bench -run "^TestBench" ./pkg/localhub

finish
