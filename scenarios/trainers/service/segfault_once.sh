#!/bin/sh
# Dies like a program with a bug in its native code, only in the first try of the job.
for job_dir; do :; done
if [ ! -e "$job_dir/tried" ]; then
  mkdir -p "$job_dir" && echo 1 >"$job_dir/tried"
  kill -SEGV $$
fi
echo '{"step": 1}'
