#!/bin/sh
# Dies like a program with a bug in its native code, the first time that the job is tried.
for job_dir; do :; done
if [ ! -e "$job_dir/tried" ]; then
  mkdir -p "$job_dir" && echo 1 >"$job_dir/tried"
  kill -SEGV $$
fi
echo '{"step": 1}'
