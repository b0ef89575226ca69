#!/usr/bin/env bash
# Prints the Python that runs tools/verify_push.py, and installs what that needs under .tools/ the first time. It fails where
# there is no python3 with its venv module, and where pip finds nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=$PWD/.tools/verify-rfc8785-0.1.4
mkdir -p .tools
exec 9>"$venv.lock" # two tests may want it at once
flock 9
if [ ! -e "$venv/ready" ]; then
	if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
		echo 'tools/python.sh: needs python3 with its venv module (Debian: python3 python3-venv)' >&2
		exit 1
	fi
	rm -rf "$venv"
	python3 -m venv "$venv" >&2
	"$venv/bin/pip" install --quiet --disable-pip-version-check cryptography==50.0.2 rfc8785==0.1.4 >&2
	touch "$venv/ready" # last, so that what was broken off begins anew
fi
echo "$venv/bin/python"
