#!/usr/bin/env bash
# make deploy: the stack of STAGE, production unless told otherwise, to the AWS account of the credentials at hand. ARGS
# goes to the CDK's own command, which shows what will change in permissions and asks first.
. "$(dirname "$0")/parts.sh"

cdk=aws-cdk@2.1148.1
stage=${STAGE:-production}
have npx || refuse "The CDK's own command needs Node with npx (Debian: nodejs npm)"
quiet_cdk

export STAGES=$stage
tools/synth.sh
cd infra
# shellcheck disable=SC2086 # ARGS are words
npx --yes "$cdk" deploy --app "../bin/cdk/$stage" ${ARGS:-}
