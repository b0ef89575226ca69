#!/usr/bin/env bash
# make aws-faults: the outbox, the executions and what they call fail for a while at the deployed stack, and its stream comes
# doubled and reordered. Every expiry and every callback must happen all the same, once each. It takes about a minute.
. "$(dirname "$0")/parts.sh"

home=${AWS_HOME:-$PWD/.tools/aws}

end_emulator() { localstack/down >"$scratch/down" 2>&1 || cat "$scratch/down"; }
if [ ! -s "$home-endpoint" ]; then on_exit=(end_emulator cleanup); fi # what was not there before does not stay

build() { go -C tools build -o "../$bin/" ./awsfaults; }

part 'start the emulated AWS' localstack/up
if [ ! -s "$home-stack.json" ]; then part 'deploy' tools/aws-deploy.sh; fi
if [ "$failed" -eq 0 ]; then part 'build what makes it fail' build; fi
if [ "$failed" -eq 0 ]; then part 'failures, and what becomes of the work' "$bin/awsfaults" -stack "$home-stack.json"; fi

finish
