# shellcheck shell=bash
# What provision.sh --uninstall does; uses the functions and variables of provision.sh.

remove_engine_data() {
  if grep -qxs docker-ce "$CONFIG/packages"; then
    gone /etc/docker /var/lib/docker /var/lib/containerd /run/docker.sock
  fi
}

remove_packages() {
  local package recorded=()
  if [[ -s $CONFIG/packages ]]; then
    while read -r package; do
      if is_installed "$package"; then recorded+=("$package"); fi
    done <"$CONFIG/packages"
  fi
  if ((${#recorded[@]})); then change "without packages ${recorded[*]}" purge_packages "${recorded[@]}"; fi
}

purge_packages() {
  DEBIAN_FRONTEND=noninteractive apt-get purge -y -qq --allow-change-held-packages "$@" >/dev/null
}

remove_users() {
  local user users=("${USERS[@]}")
  if grep -qxs docker-ce "$CONFIG/packages"; then users+=(dockremap); fi
  for user in "${users[@]}"; do
    if id "$user" >/dev/null 2>&1; then change "without user $user" userdel "$user"; fi
  done
}

remove_files() {
  gone "${OWN_UNITS[@]/#/$UNITS/}" "$UNITS"/apt-daily{,-upgrade}.service.d/pushbench-runner.conf
  local unit
  for unit in apt-daily apt-daily-upgrade; do
    if [[ -d $UNITS/$unit.service.d && -z $(ls -A "$UNITS/$unit.service.d") ]]; then gone "$UNITS/$unit.service.d"; fi
  done
  gone /etc/sysctl.d/90-pushbench-runner.conf /etc/tmpfiles.d/pushbench-runner.conf
  gone /etc/apt/sources.list.d/pushbench-docker.sources /etc/apt/keyrings/pushbench-docker.asc
  if [[ -e $CONFIG/applied/engine ]]; then gone /etc/docker/daemon.json; fi
  gone "$LIBRARY" "$STATE" "$OFFER" /run/pushbench-github /run/pushbench-runner
}

# The record of what was installed is removed last: until then a second --uninstall can continue.
uninstall_all() {
  step "services stopped" disabled pushbench-renew.{timer,service} pushbench-{runner,job}.service \
    pushbench-firewall.service
  step "packages" remove_packages
  step "engine's data" remove_engine_data
  step "users" remove_users
  step "files" remove_files
  step "units read again" reload_after_removal
  step "record" gone "$CONFIG"
}

reload_after_removal() {
  if [[ -e $CONFIG ]]; then change "systemctl daemon-reload" systemctl daemon-reload; fi
}
