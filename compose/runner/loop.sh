#!/usr/bin/env bash
# One job after the other, each in a folder of its own without remains of an earlier one. Runs as root, without network
# and without the credential: registering, admitting, renewing and the job are units of their own.
set -euo pipefail

STATE=${STATE:-/var/lib/pushbench-runner} # dist/: the unpacked Actions runner; job/: the present job's
RUN=${RUN:-/run/pushbench-runner}
OFFER=${OFFER:-/var/lib/pushbench-renewal} # a newer Actions runner, once pushbench-renew.service has found one
LIBRARY=${LIBRARY:-/usr/local/lib/pushbench-runner}
CGROUP=${CGROUP:-/sys/fs/cgroup/system.slice/pushbench-job.service}
ENGINE_SOCKET=${ENGINE_SOCKET:-/run/docker.sock}
JOB_USER=${JOB_USER:-pushbench}
TURNS=${TURNS:-0} # 0: until stopped
PAUSE=${PAUSE:-30}
POLL=${POLL:-1}
# Counts from the job's start. GitHub ends the workflow's jobs after 330 minutes, so this is for a job whose runner no
# longer listens. Waiting for a job has no limit.
JOB_SECONDS=${JOB_SECONDS:-72000}
RETRY_SECONDS=${RETRY_SECONDS:-3600}

say() { echo "pushbench-runner: $*"; }

# Nothing of a job outlives it. Images are removed too: a job can give any image the tag that the next one would trust.
# If something cannot be removed, the machine stops, because the next job would find it.
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

# A newer Actions runner replaces the old one if its checksum matches; otherwise the old one stays.
renew() {
  if [[ ! -e $OFFER/offer ]]; then return; fi
  python3 -E -s "$LIBRARY/runner_unpack.py" take "$OFFER" "$STATE" || say "this machine goes on with the runner it has"
}

# The runner's files are hard links that belong to root, in a sticky folder of root's: the job may add files beside
# them, but can neither change nor replace them.
prepare() {
  cp -al "$STATE/dist" "$STATE/job"
  mkdir -m 0700 "$STATE/job/home"
  chown "$JOB_USER:" "$STATE/job/home"
  chown "root:$JOB_USER" "$STATE/job"
  chmod 1770 "$STATE/job"
}

# From here on the job may use the engine, and nothing is downloaded beside it.
let_in() {
  touch "$RUN/busy"
  systemctl stop pushbench-renew.service
  setfacl --modify "user:$JOB_USER:rw" "$ENGINE_SOCKET"
  touch "$RUN/admitted"
  say "the job may measure"
}

job_has_begun() {
  local pid
  while read -r pid; do
    if [[ $(cat "/proc/$pid/comm" 2>/dev/null) == Runner.Worker ]]; then return 0; fi
  done < <(cat "$CGROUP/cgroup.procs" 2>/dev/null)
  return 1
}

# await_job PROCESS: returns when a job is here, or 1 when the runner has ended without one. A waiting runner gives way
# to a newer one, unless GitHub reports that it has just been given a job.
await_job() {
  local retry=0
  until job_has_begun; do
    if ! kill -0 "$1" 2>/dev/null; then return 1; fi
    if [[ -e $OFFER/offer ]] && ((SECONDS >= retry)); then
      retry=$((SECONDS + RETRY_SECONDS))
      if systemctl start pushbench-github@retire.service; then systemctl stop pushbench-job.service; fi
    fi
    sleep "$POLL"
  done
}

# Lets the job in or kills it.
receive() {
  say "a job is here; GitHub is asked which"
  if systemctl start pushbench-github@admit.service; then
    let_in
  else
    say "the job was not admitted (see: journalctl -u pushbench-github@admit)"
    sleep "${REFUSAL_SECONDS:-10}" # time for the hook to print its sentence for the job's owner
    systemctl kill --signal=KILL pushbench-job.service || true
  fi
}

# Waits for a job and returns when it has ended, or was ended because it took too long. A pipe signals the end: `read`
# waits for it without a process beside the measurement, and for a limited time.
serve() {
  local end job code='' status=0 began
  exec {end}< <(systemctl start --wait pushbench-job.service && echo 0 || echo 1)
  job=$!
  if await_job "$job"; then
    began=$SECONDS
    receive
    read -r -t $((began + JOB_SECONDS > SECONDS ? began + JOB_SECONDS - SECONDS : 1)) -u "$end" code || status=$?
    if ((status > 128)); then # time is up
      say "the job has run for $JOB_SECONDS s, more than any benchmark: it is ended"
      systemctl stop pushbench-job.service
    fi
  fi
  if [[ -z $code ]]; then read -r -u "$end" code || true; fi
  exec {end}<&-
  if [[ $code != 0 ]]; then say "the runner ended with an error (see: journalctl -u pushbench-job)"; fi
}

turn() {
  clean
  renew
  if ! systemctl start pushbench-github@register.service; then
    say "not registered (see: journalctl -u pushbench-github@register); next try in $PAUSE s"
    sleep "$PAUSE"
    return
  fi
  prepare
  local began=$SECONDS
  say "waiting for a job with Actions runner $(cut -d ' ' -f 1 "$STATE/version")"
  serve
  clean
  say "clean again"
  # A runner that ends at once (GitHub may want a newer one) must not be registered a thousand times an hour.
  if ((SECONDS - began < PAUSE)); then sleep $((PAUSE - (SECONDS - began))); fi
}

for ((number = 1; TURNS == 0 || number <= TURNS; number++)); do
  turn
done
