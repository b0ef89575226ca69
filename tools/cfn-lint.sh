#!/usr/bin/env bash
# cfn-lint over the templates of a folder: tools/cfn-lint.sh FOLDER. It installs itself under .tools/ and asks nobody else.
. "$(dirname "$0")/parts.sh"

version=1.58.0
venv=$PWD/.tools/cfn-lint-$version

install() {
	if [ -e "$venv/ready" ]; then return; fi
	rm -rf "$venv"
	python3 -m venv "$venv"
	"$venv/bin/pip" install --quiet --disable-pip-version-check "cfn-lint==$version"
	touch "$venv/ready" # last, so that what was broken off begins anew
}

lint() {
	local templates
	templates=$(find "$1" -name '*.template.json')
	[ -n "$templates" ] || { echo "no templates in $1" >&2 && return 1; }
	# W3005: the CDK names dependencies that references make anyway.
	xargs "$venv/bin/cfn-lint" --ignore-checks W3005 -t <<<"$templates"
}

part "install cfn-lint $version" install
part 'cfn-lint' lint "$1"

finish
