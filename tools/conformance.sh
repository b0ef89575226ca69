#!/usr/bin/env bash
# make conformance CASES=folder: the vectors of the folder against the packages, its field cases against a hub.
. "$(dirname "$0")/parts.sh"

[ -n "${CASES:-}" ] || refuse 'Say where the cases are: make conformance CASES=folder'
CASES=$(realpath -- "$CASES" 2>/dev/null) && [ -d "$CASES" ] || refuse 'CASES names no folder'
compgen -G "$CASES/vectors/*.json" >/dev/null || refuse "no vectors in $CASES/vectors"
have python3 || refuse 'The field cases are run by python3, which is not there (Debian: python3)'
export CASES

hub=
stop_hub() {
	[ -n "$hub" ] || return 0
	kill "$hub" 2>/dev/null || true
	wait "$hub" 2>/dev/null || true
}
on_exit=(stop_hub cleanup)

start_hub() {
	bin/mash serve --conformance --listen 127.0.0.1:0 --url-file "$scratch/url" --data "$scratch/data" \
		</dev/null >"$scratch/hub" 2>&1 &
	hub=$!
	local tries
	for ((tries = 0; tries < 300; tries++)); do
		if [ -s "$scratch/url" ]; then
			url=$(cat "$scratch/url")
			return 0
		fi
		kill -0 "$hub" 2>/dev/null || break
		sleep 0.1
	done
	echo 'mash serve --conformance does not serve; it said:' >&2
	cat "$scratch/hub" >&2
	return 1
}

field() {
	local status=0
	python3 "$CASES/run_scenarios.py" "$url" "$CASES/field/cases.json" >"$scratch/field" 2>&1 || status=$?
	cat "$scratch/field"
	tail -n 1 "$scratch/field" | sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' >>"$MASH_COUNTS"
	[ "$status" -eq 0 ] || tail -n 20 "$scratch/hub"
	return "$status"
}

test_tools
part 'vectors' "$bin/gotestcount" -noskip -count=1 -tags cases -run Vector ./schema/... ./pkg/ma2h/... ./pkg/signature/...
part 'build bin/mash' go build -o bin/mash ./cmd/mash
url=
part 'start the hub' start_hub
if [ -n "$url" ]; then part 'field cases' field; fi

finish
