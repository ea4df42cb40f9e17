#!/bin/sh
# ACTIONS_RUNNER_HOOK_JOB_STARTED must name a shell script; everything is decided in runner_hook.py.
# -E -s: nothing of the environment or of the user's home takes part.
set -eu
exec /usr/bin/python3 -E -s /usr/local/lib/pushbench-runner/runner_hook.py \
  /etc/pushbench-runner/settings /run/pushbench-runner/admitted
