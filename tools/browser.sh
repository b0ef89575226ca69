#!/usr/bin/env bash
# make browser: the pages in a real browser, on mash serve: what they look like to axe-core, to a thumb, to a keyboard and to
# two people at once. MASH_CHROMIUM names the browser where it is not found by itself.
. "$(dirname "$0")/parts.sh"

missing=$(browser_missing)
[ -z "$missing" ] || refuse "The pages in a browser need $missing"

get_axe() { tools/axe.sh >"$scratch/where" && cat "$scratch/where"; }

# Nothing but these and the hub of one machine: DynamoDB is the business of other tests.
tests() {
	env -u MASH_DYNAMO_ENDPOINT -u MASH_REQUIRE_ALL MASH_AXE="$(cat "$scratch/where")" \
		"$bin/gotestcount" -noskip -tags browser -count=1 -timeout 10m -run '^TestBrowser_' ./pkg/realtime
}

test_tools
part 'axe-core' get_axe
part 'build bin/mash' go build -o bin/mash ./cmd/mash # which the snippets run
part 'pages in a real browser' tests

finish
