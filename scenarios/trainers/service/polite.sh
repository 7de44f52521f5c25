#!/bin/sh
# Saves when SIGTERM announces the loss of its machine.
for job_dir; do :; done
mkdir -p "$job_dir"
save() {
  touch "$job_dir/saved"  # dash may keep a redirection of a trap for the commands after it
  echo "saved in time"
  [ -z "$!" ] || kill $! 2> /dev/null  # SIGTERM may come before the sleep, and may have ended it
  exit 0
}
trap save TERM
if [ -e "$job_dir/saved" ]; then
  echo '{"step": 2}'
  exit 0
fi
echo '{"step": 1}'
sleep 3600 &
wait
