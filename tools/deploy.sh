#!/usr/bin/env bash
# make deploy: the stack of STAGE, production unless told otherwise, to the AWS account of the credentials at hand. ARGS
# goes to the CDK's own command, which shows what will change in permissions and asks first; with
# ARGS='--require-approval never' it does not ask.
. "$(dirname "$0")/parts.sh"

cdk=aws-cdk@2.1148.1
stage=${STAGE:-production}
have npx || refuse "The CDK's own command needs Node with npx (Debian: nodejs npm)"
[ "$stage" != test ] || refuse 'The stage test is for an emulated AWS; make aws-deploy deploys it there'
quiet_cdk

# Early, since what follows takes minutes.
go build -o bin/ ./cmd/mash-aws
account=$(bin/mash-aws account) || refuse 'Deploying needs AWS credentials'
echo "deploying the stage $stage to $account"

export STAGES=$stage
tools/synth.sh
cd infra
# shellcheck disable=SC2086 # ARGS are words
npx --yes "$cdk" deploy --app "../bin/cdk/$stage" ${ARGS:-}
