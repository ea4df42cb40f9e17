#!/usr/bin/env bash
# One job after the other, each in a folder of its own with nothing that an earlier one left. Runs as root, without
# network and without the token: registering, admitting and the job are units of their own.
set -euo pipefail

STATE=${STATE:-/var/lib/pushbench-runner} # dist/: the Actions runner as it was unpacked; job/: of the job at hand
RUN=${RUN:-/run/pushbench-runner}
CGROUP=${CGROUP:-/sys/fs/cgroup/system.slice/pushbench-job.service}
ENGINE_SOCKET=${ENGINE_SOCKET:-/run/docker.sock}
JOB_USER=${JOB_USER:-pushbench}
TURNS=${TURNS:-0} # 0: until stopped
PAUSE=${PAUSE:-30}
POLL=${POLL:-1}

say() { echo "pushbench-runner: $*"; }

# Nothing of a job outlives it. Images go too: a job can give any image the tag that the next one would trust.
# What cannot be removed stops the machine, for the next job would find it.
clean() {
  rm -f "$RUN/admitted" "$RUN/busy"
  setfacl --remove-all "$ENGINE_SOCKET"
  local containers
  containers=$(docker ps --all --quiet)
  if [[ -n $containers ]]; then
    # shellcheck disable=SC2086 # one id a word
    docker rm --force --volumes $containers >/dev/null
  fi
  docker volume prune --all --force >/dev/null
  docker system prune --all --force >/dev/null
  rm -rf --one-file-system "$STATE/job"
}

# The runner's files are hard links that belong to root, in a sticky folder of root's: the job may add files beside
# them, and neither change nor replace them.
prepare() {
  cp -al "$STATE/dist" "$STATE/job"
  mkdir -m 0700 "$STATE/job/home"
  chown "$JOB_USER:" "$STATE/job/home"
  chown "root:$JOB_USER" "$STATE/job"
  chmod 1770 "$STATE/job"
}

# From here on the job may use the engine.
let_in() {
  setfacl --modify "user:$JOB_USER:rw" "$ENGINE_SOCKET"
  touch "$RUN/busy" "$RUN/admitted"
}

job_has_begun() {
  local pid
  while read -r pid; do
    if [[ $(cat "/proc/$pid/comm" 2>/dev/null) == Runner.Worker ]]; then return 0; fi
  done < <(cat "$CGROUP/cgroup.procs" 2>/dev/null)
  return 1
}

# Waits for a job, lets it in or throws it out, and returns when it has ended.
serve() {
  systemctl start --wait pushbench-job.service &
  local job=$!
  until job_has_begun; do
    if ! kill -0 "$job" 2>/dev/null; then break; fi
    sleep "$POLL"
  done
  if kill -0 "$job" 2>/dev/null; then
    if systemctl start pushbench-github@admit.service; then
      let_in
    else
      say "the job was not admitted (see: journalctl -u pushbench-github@admit)"
      sleep "${REFUSAL_SECONDS:-10}" # in which the hook tells the job's owner
      systemctl kill --signal=KILL pushbench-job.service || true
    fi
  fi
  wait "$job" || say "the runner ended with an error (see: journalctl -u pushbench-job)"
}

turn() {
  clean
  if ! systemctl start pushbench-github@register.service; then
    say "not registered (see: journalctl -u pushbench-github@register); next try in $PAUSE s"
    sleep "$PAUSE"
    return
  fi
  prepare
  local began=$SECONDS
  serve
  clean
  # A runner that ends at once (GitHub may want a newer one) must not be registered a thousand times an hour.
  if ((SECONDS - began < PAUSE)); then sleep $((PAUSE - (SECONDS - began))); fi
}

for ((number = 1; TURNS == 0 || number <= TURNS; number++)); do
  turn
done
