#!/usr/bin/env bash
# demo.sh: reads the contacts off the pole take in demo/, bakes it with them onto the body in demo/, and leaves the
# script and a plot of it, the scene, a contact sheet and a report.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT"

python=$(tools/any_bpy.sh)
mkdir -p build/demo
"$python" operators/batch.py contacts --take demo/take.bvh --rest demo/tpose.bvh --out build/demo/contacts.json \
    --plot build/demo/contacts.png </dev/null
"$python" operators/batch.py bake --take demo/take.bvh --rest demo/tpose.bvh --body demo/body.blend \
    --contacts build/demo/contacts.json --out build/demo/demo.blend --sheet build/demo/demo.png \
    --report build/demo/demo.json </dev/null
for file in build/demo/demo.blend build/demo/demo.png build/demo/demo.json build/demo/contacts.json \
    build/demo/contacts.png; do
    [ -s "$file" ] || die "$file was not written"
    say "$file"
done
