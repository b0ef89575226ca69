#!/usr/bin/env bash
# make synth: the functions of every stage, and from them the templates, under bin/cdk/STAGE.
. "$(dirname "$0")/parts.sh"

have node || refuse 'The CDK needs Node to make templates (Debian: nodejs)'
quiet_cdk

build() { go -C infra build -o ../bin/infra .; }

# app STAGE [FLAG]: runs the CDK app for a stage.
app() { (cd infra && CDK_OUTDIR=../bin/cdk/$1 CDK_CONTEXT_JSON="{\"stage\":\"$1\"}" ../bin/infra "${@:2}"); }

functions() {
	local arch
	arch=$(app "$1" -architecture) || return 1
	GOARCH=$arch tools/functions.sh
}

template() { rm -rf "bin/cdk/$1" && app "$1" && ls "bin/cdk/$1"/*.template.json; }

part 'build the CDK app' build
for stage in ${STAGES:-production test}; do
	part "functions of $stage" functions "$stage"
	part "template of $stage" template "$stage"
done

finish
