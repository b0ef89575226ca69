#!/usr/bin/env bash
# make aws-smoke: one ask, from its submit to its verified answer, and two directives, to their acks, at the stack that
# make aws-deploy has deployed.
. "$(dirname "$0")/parts.sh"

stack=${AWS_HOME:-.tools/aws}-stack.json
[ -s "$stack" ] || refuse 'Nothing is deployed; run make aws-deploy'
part 'one ask, two directives' go run ./localstack/smoke "$stack"

finish
