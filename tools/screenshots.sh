#!/usr/bin/env bash
# make screenshots: every page, phone and desktop, light and dark, as PNG files under bin/screenshots.
. "$(dirname "$0")/parts.sh"

missing=$(browser_missing)
[ -z "$missing" ] || refuse "Screenshots need $missing"

shots() {
	rm -rf bin/screenshots && mkdir -p bin/screenshots &&
		env -u MASH_DYNAMO_ENDPOINT -u MASH_REQUIRE_ALL MASH_SCREENSHOTS="$PWD/bin/screenshots" \
			"$bin/gotestcount" -tags browser -count=1 -timeout 10m -run '^TestScreenshots$' ./pkg/realtime &&
		echo "$(ls bin/screenshots | wc -l) files in bin/screenshots"
}

test_tools
part 'screenshots' shots

finish
