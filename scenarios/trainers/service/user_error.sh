#!/bin/sh
echo '{"step": 1}'
echo "no such column: age" >&2
exit 3
