# Sourced by the scripts beside it: parts that are run one after the other, whatever became of those before, and added up
# to one last line. MASH_COUNTS names the file to which a part may append "passed failed", as often as it likes; a part
# that does not counts as one. A script that is itself a part of another reports to that one's file and prints no last line.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=.tools/bin
mkdir -p "$bin"

scratch=$(mktemp -d)
above=${MASH_COUNTS:-}
passed=0
failed=0
broken=()
left=()
started_emulator=
on_exit=(cleanup)

cleanup() {
	if [ -n "$started_emulator" ]; then
		localstack/down >"$scratch/down" 2>&1 || cat "$scratch/down"
	fi
	rm -rf "$scratch"
}
trap 'for step in "${on_exit[@]}"; do "$step"; done' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# part TITLE COMMAND...: runs the command and counts it.
part() {
	local title=$1 status=0 p=0 f=0 line_p line_f begin=$SECONDS
	shift
	printf '\n== %s\n' "$title"
	: >"$scratch/counts"
	MASH_COUNTS=$scratch/counts "$@" </dev/null || status=$?
	while read -r line_p line_f; do
		p=$((p + line_p)) f=$((f + line_f))
	done <"$scratch/counts"
	if [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
	if [ $((p + f)) -eq 0 ]; then p=1; fi
	passed=$((passed + p)) failed=$((failed + f))
	if [ "$f" -gt 0 ]; then broken+=("$title"); fi
	printf '   %s: %d passed, %d failed, %d s\n' "$title" "$p" "$f" $((SECONDS - begin))
}

# left_out PART WHAT: notes that a part was left out, and what to install for it.
left_out() { left+=("$1: $2"); }

# finish prints what was left out, what failed and the last line, and ends the script.
finish() {
	local line
	if [ ${#left[@]} -gt 0 ]; then
		printf '\nLeft out, and what it takes to run them:\n'
		for line in "${left[@]}"; do printf -- '- %s\n' "$line"; done
	fi
	if [ ${#broken[@]} -gt 0 ]; then
		printf '\nFailed:\n'
		for line in "${broken[@]}"; do printf -- '- %s\n' "$line"; done
	fi
	if [ -n "$above" ]; then
		echo "$passed $failed" >>"$above"
	else
		printf '\n%d passed, %d failed\n' "$passed" "$failed"
	fi
	[ "$failed" -eq 0 ] || exit 1
	exit 0
}

have() { command -v "$1" >/dev/null 2>&1; }

# in_infra COMMAND...: runs it in infra/, a module of its own.
in_infra() { (cd infra && "$@"); }

# quiet_cdk: the CDK warns of versions of Node, and runs an app twice for a look that cfn-lint has too.
quiet_cdk() {
	export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=20 JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION=1 CDK_VALIDATION=false
}

# test_tools builds the programs that count.
test_tools() { go -C tools build -o "../$bin/" ./gotestcount ./behaviours; }

# clauses UNASKED FLAGS...: asks a hub every clause of the protocol (mash conform). Only a clause whose name UNASKED matches, a
# regular expression, may be not applicable there.
clauses() {
	local unasked=$1 status=0 missed
	shift
	bin/mash conform "$@" >"$scratch/clauses" 2>&1 || status=$?
	cat "$scratch/clauses"
	tail -n 1 "$scratch/clauses" | sed -nE 's/^([0-9]+) ok, ([0-9]+) failed, .*$/\1 \2/p' >>"$MASH_COUNTS"
	missed=$(sed -nE 's|^n/a +(dp-[^ ]+) .*$|\1|p' "$scratch/clauses" | grep -vxE "$unasked" | tr '\n' ' ') || true
	if [ -n "$missed" ]; then
		echo "these have to be asked of this hub: $missed"
		echo "0 $(wc -w <<<"$missed")" >>"$MASH_COUNTS"
		status=1
	fi
	return "$status"
}

# Clauses that only virtual time shows: about two accounts, days, and what a hub is set to tell.
only_virtual='dp-(010\.6b|019\.9d|021\.[67]|022\.(3b|5c|7b)|023\.2)'

# emulator_missing says what the emulated AWS lacks here, or nothing.
emulator_missing() {
	if [ -n "${MASH_DYNAMO_ENDPOINT:-}" ]; then
		return
	elif [ ! -x localstack/up ]; then
		echo 'localstack/up'
	elif ! have python3; then
		echo 'python3 with its venv module (Debian: python3 python3-venv)'
	elif ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
		echo "python3's venv module (Debian: python3-venv)"
	fi
}

# browser_missing says what the tests in a browser lack here, or nothing.
browser_missing() {
	if [ -z "${MASH_CHROMIUM:-}" ] && ! have chromium && ! have chromium-browser && ! have google-chrome; then
		echo 'Chromium (Debian: chromium)'
	elif [ ! -s .tools/axe-core-*/axe.min.js ] && ! have npm; then
		echo 'npm, which fetches axe-core (Debian: nodejs npm)'
	fi
}

# emulator_up starts the emulated AWS unless MASH_DYNAMO_ENDPOINT names one or it runs already, and exports
# MASH_DYNAMO_ENDPOINT. What it started ends with the script. AWS_HOME and AWS_ENDPOINT are as in localstack/up.
emulator_up() {
	if [ -n "${MASH_DYNAMO_ENDPOINT:-}" ]; then return 0; fi
	local running= home=${AWS_HOME:-$PWD/.tools/aws}
	if [ -n "${AWS_ENDPOINT:-}" ] || kill -0 "$(cat "$home/pid" 2>/dev/null)" 2>/dev/null; then running=1; fi
	localstack/up || return 1
	if [ -z "$running" ]; then started_emulator=1; fi
	[ -s "$home-endpoint" ] || return 1
	MASH_DYNAMO_ENDPOINT=$(cat "$home-endpoint")
	export MASH_DYNAMO_ENDPOINT
}

# refuse WHY: for a script that cannot begin.
refuse() {
	echo "$1" >&2
	failed=1
	finish
}
