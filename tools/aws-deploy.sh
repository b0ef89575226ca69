#!/usr/bin/env bash
# make aws-deploy: builds every function and the template, and deploys the test stage to the emulated AWS, which it starts
# where it does not run. What there is then stands in .tools/aws-stack.json. AWS_HOME and AWS_ENDPOINT are as in localstack/up.
. "$(dirname "$0")/parts.sh"

have node || refuse 'The CDK needs Node to make the template (Debian: nodejs)'

home=${AWS_HOME:-$PWD/.tools/aws}
if [ -z "${AWS_ENDPOINT:-}" ]; then # credentials of a real account have no business there
	export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_REGION=us-east-1
	unset AWS_SESSION_TOKEN AWS_PROFILE
fi

build() {
	go -C infra build -o ../bin/infra . && go build -o bin/mash-aws ./cmd/mash-aws && go -C tools build -o "../$bin/" ./awsdeploy
}

deploy() { "$bin/awsdeploy" -endpoint "$(cat "$home-endpoint")" -out "$home-stack.json" >"$scratch/next"; }

# next says how to go on, to who has run this and nothing more.
next() {
	if [ -n "$above" ] || [ "$failed" -gt 0 ]; then return 0; fi
	echo
	cat "$scratch/next"
	printf '\nmake aws-smoke follows one ask there, to its verified answer.\n'
	printf 'make aws-down stops it all; what it holds is gone then.\n'
}

part 'start the emulated AWS' localstack/up
part 'functions' tools/functions.sh
part 'build what deploys them' build
part 'deploy' deploy

next
finish
