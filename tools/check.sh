#!/usr/bin/env bash
# make check: everything, and what is missing is a failure. This is what CI runs. CASES names a folder of shared cases.
. "$(dirname "$0")/parts.sh"

if [ -n "${CASES:-}" ]; then # tests run in their package's folder
	CASES=$(realpath -- "$CASES" 2>/dev/null) && [ -d "$CASES" ] || refuse 'CASES names no folder'
fi

export MASH_REQUIRE_ALL=1
rounds=${ROUNDS:-3}

packages() {
	local want=()
	have gcc || want+=(gcc)
	[ -e /usr/include/stdlib.h ] || want+=(libc6-dev)
	have python3 || want+=(python3)
	python3 -c 'import venv, ensurepip' 2>/dev/null || want+=(python3-venv)
	have node || want+=(nodejs)
	have npm || want+=(npm)
	[ -z "$(browser_missing)" ] || have chromium || want+=(chromium)
	if [ ${#want[@]} -eq 0 ]; then
		echo 'all there'
	elif [ "$(id -u)" -eq 0 ] && have apt-get; then
		echo "installing ${want[*]}"
		export DEBIAN_FRONTEND=noninteractive
		apt-get update -q >"$scratch/apt" 2>&1 &&
			apt-get install -q -y --no-install-recommends "${want[@]}" >>"$scratch/apt" 2>&1 ||
			{ tail -n 20 "$scratch/apt" && false; }
	else
		echo "missing: ${want[*]} (names of Debian packages). Install them, or run this as root on Debian." >&2
		return 1
	fi
}

formatted() {
	local files
	files=$(git ls-files -z --cached --others --exclude-standard '*.go' | xargs -0 gofmt -l) || return 1
	[ -z "$files" ] || { printf 'not gofmted:\n%s\n' "$files" && false; }
}

test_tools
quiet_cdk

part 'packages of the system' packages
part 'gofmt' formatted
part 'go mod tidy' go mod tidy -diff
part 'go mod tidy, tools' go -C tools mod tidy -diff
part 'go mod tidy, infra' go -C infra mod tidy -diff
part 'go vet' go vet ./...
part 'go vet, infra' go -C infra vet ./...
part 'go vet, with the tests that have tags' go vet -tags cases,crash,bench,browser ./...
part 'lint' tools/lint.sh
part 'build with -tags ackbeforecommit' go build -tags ackbeforecommit -o "$scratch/" ./cmd/...
part 'start the emulated AWS' emulator_up
if [ -n "${CASES:-}" ]; then
	# Without cases some tests have nothing to read and say so; with them nobody has a reason to skip.
	part 'tests under the race detector' "$bin/gotestcount" -noskip -race -shuffle=on -timeout 20m ./...
else
	part 'tests under the race detector' "$bin/gotestcount" -race -shuffle=on -timeout 20m ./...
	left_out 'the shared cases' 'a folder of them, named by CASES='
fi
part 'clauses of the protocol, and the shared cases if there are any' tools/conformance.sh
templates=$scratch/templates
mkdir "$templates"
part 'templates of the stack' in_infra "../$bin/gotestcount" -count=1 -timeout 15m ./... -args -templates "$templates"
part 'cfn-lint' tools/cfn-lint.sh "$templates"
part 'behaviours' tools/behaviours.sh
part 'the deployed stack, on an emulated AWS, and the pages in a real browser, there and on mash serve' tools/aws-test.sh
part "crash, $rounds rounds" env ROUNDS="$rounds" tools/crash.sh

finish
