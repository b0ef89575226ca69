#!/usr/bin/env bash
# make aws-test: deploys the whole stack to an emulated AWS of its own, runs every real-time test on mash serve and on the
# stack, those of the pages in a real browser among them, and fails unless both are the same tests and all of them pass. It
# asks the stack every clause of mash conform. Then it lets parts of the stack fail, and puts the functions of the commit before
# beside these. It leaves no process behind.
# BROWSER=no leaves the browser out.
. "$(dirname "$0")/parts.sh"

export AWS_HOME=$PWD/.tools/aws-test # beside the one of make aws-up, which stays as it is
stack=$AWS_HOME-stack.json

end_emulator() { localstack/down >"$scratch/down" 2>&1 || cat "$scratch/down"; }
on_exit=(end_emulator cleanup)

# Screenshots are pictures for people, and hold nobody to anything.
flags=(-tags browser -skip '^TestScreenshots$')
if [ "${BROWSER:-yes}" = no ]; then
	flags=()
else
	missing=$(browser_missing)
	[ -z "$missing" ] || refuse "The pages in a browser need $missing; BROWSER=no leaves them out"
fi

get_axe() { tools/axe.sh >"$scratch/axe-path" && cat "$scratch/axe-path"; }

# Nothing but these two is asked for, and both of them are: the tool that compares them sees to it.
tests() {
	env -u MASH_DYNAMO_ENDPOINT -u MASH_REQUIRE_ALL MASH_TEST_STACK="$stack" MASH_AXE="$(cat "$scratch/axe-path" 2>/dev/null)" \
		"$bin/engines" -list "$AWS_HOME-list" SQLite,AWS -- "${flags[@]}" -count=1 -timeout 30m ./pkg/realtime
}

# clauses_there asks the deployed hub, in real time, few clauses at once: each function that has not run yet takes a while.
clauses_there() {
	local url token callback
	{ read -r url && read -r token && read -r callback; } < <(python3 -c '
import json, sys
s = json.load(open(sys.argv[1]))
print(s["url"], s["token"], s["callback"], sep="\n")' "$stack") || return 1
	MASH_TOKEN=$token clauses "$only_virtual" --hub "$url" --callback "$callback" --restart localstack/crash --parallel 6
}

# killed ends every process of a function in the middle of drains, acks and closes, again and again.
killed() {
	MASH_TEST_STACK=$stack CRASH_ROUNDS=${ROUNDS:-3} "$bin/gotestcount" -count=1 -tags crash -run '^TestCrash_Deployed' ./cmd/mash
}

# nothing_left ends the emulator and looks for what it, or a function on it, has left running.
nothing_left() {
	local pid left
	pid=$(cat "$AWS_HOME/pid" 2>/dev/null || true)
	localstack/down || return 1
	for _ in $(seq 50); do
		left=$(ps -eo pid=,stat=,args= | awk -v pid="$pid" -v home="$AWS_HOME/" \
			'$2 !~ /^Z/ && ($1 == pid || index($0, home) && !/awk/)')
		[ -n "$left" ] || return 0
		sleep 0.1
	done
	printf 'still running:\n%s\n' "$left"
	return 1
}

end_emulator # of a run that was broken off
rm -f "$stack"
go -C tools build -o "../$bin/" ./engines
if [ "${BROWSER:-yes}" != no ]; then
	part 'axe-core' get_axe
fi
part 'build bin/mash' go build -o bin/mash ./cmd/mash # which the snippets run, too
part 'deploy' tools/aws-deploy.sh
if [ -s "$stack" ]; then
	part 'real-time tests on mash serve and on AWS' tests
	part 'clauses of the protocol on AWS' clauses_there
	part 'every process of a function is killed, in the middle of drains' killed
	part 'parts of the stack fail' tools/aws-faults.sh
	if git rev-parse --verify --quiet 'HEAD~1^{commit}' >/dev/null; then
		part 'two versions on one table' tools/aws-versions.sh
	else
		left_out 'two versions on one table' 'a clone with its history'
	fi
fi
part 'take it down' nothing_left

finish
