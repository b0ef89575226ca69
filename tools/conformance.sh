#!/usr/bin/env bash
# make conformance: every clause of mash conform against a hub in virtual time, and against one as people run it, in real
# time. With CASES=folder also the vectors of the folder against the packages, and its field cases against a hub.
. "$(dirname "$0")/parts.sh"

if [ -n "${CASES:-}" ]; then
	CASES=$(realpath -- "$CASES" 2>/dev/null) && [ -d "$CASES" ] || refuse 'CASES names no folder'
	compgen -G "$CASES/vectors/*.json" >/dev/null || refuse "no vectors in $CASES/vectors"
	have python3 || refuse 'The field cases are run by python3, which is not there (Debian: python3)'
	export CASES
fi

stop_hub() {
	[ -s "$scratch/pid" ] || return 0
	local hub
	hub=$(cat "$scratch/pid")
	rm "$scratch/pid"
	while kill "$hub" 2>/dev/null; do sleep 0.1; done
}
on_exit=(stop_hub cleanup)

# start_hub FLAGS...: starts a hub in a folder of its own; its URL is in url.
start_hub() {
	rm -rf "$scratch/data"
	url=
	run_hub "$@" && url=$(cat "$scratch/url")
}

# run_hub FLAGS...: starts a hub and waits until it serves. Also what `mash conform` restarts it by.
run_hub() {
	local tries
	rm -f "$scratch/url"
	bin/mash serve --listen 127.0.0.1:0 "$@" --url-file "$scratch/url" --data "$scratch/data" \
		</dev/null >>"$scratch/hub" 2>&1 &
	echo $! >"$scratch/pid"
	disown # so that nothing is said of its end
	for ((tries = 0; tries < 300; tries++)); do
		[ ! -s "$scratch/url" ] || return 0
		kill -0 "$(cat "$scratch/pid")" 2>/dev/null || break
		sleep 0.1
	done
	echo 'mash serve does not serve; it said:' >&2
	cat "$scratch/hub" >&2
	return 1
}

# crash_hub FLAGS...: ends it in the middle of whatever it does, and starts it again.
crash_hub() {
	kill -9 "$(cat "$scratch/pid")"
	run_hub "$@"
}

field() {
	local status=0
	python3 "$CASES/run_scenarios.py" "$url" "$CASES/field/cases.json" >"$scratch/field" 2>&1 || status=$?
	cat "$scratch/field"
	tail -n 1 "$scratch/field" | sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' >>"$MASH_COUNTS"
	[ "$status" -eq 0 ] || tail -n 20 "$scratch/hub"
	return "$status"
}

# real asks a hub with the settings that people have: its leases and windows take a minute or two to end.
real() {
	local callback=${url#http://} # where the hub before was, and nobody is now
	start_hub --allow-callback "$callback" || return 1
	{
		declare -p scratch && declare -f run_hub crash_hub
		echo "crash_hub --allow-callback $callback --listen ${url#http://}"
	} >"$scratch/crash"
	MASH_URL= MASH_TOKEN=$(cat "$scratch/data/owner.token") clauses "$only_virtual|dp-019\.10|dp-021\.5a" --hub "$url" \
		--callback "$callback" --restart "bash $scratch/crash"
}

test_tools
if [ -n "${CASES:-}" ]; then
	part 'vectors' "$bin/gotestcount" -noskip -count=1 -tags cases -run Vector ./schema/... ./pkg/ma2h/... ./pkg/signature/...
fi
part 'build bin/mash' go build -o bin/mash ./cmd/mash
url=
part 'start the hub' start_hub --conformance
if [ -n "$url" ]; then
	part 'clauses, in virtual time' clauses 'dp-007\.8' --hub "$url"
	if [ -n "${CASES:-}" ]; then part 'field cases' field; fi
	stop_hub
	part 'clauses, in real time' real
fi

finish
