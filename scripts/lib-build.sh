# shellcheck shell=bash
# Helpers of the scripts that build and test. Sourced after lib-system.sh, not run.

# quietly COMMAND...: runs it, and shows what it printed only if it fails.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 || status=$?
  [ $status -eq 0 ] || { cat "$log" >&2 && say "failed: $*"; }
  rm -f "$log"
  return $status
}

# Installs the npm packages of the lock file unless node_modules/ already holds them.
# A linked folder belongs to someone else: npm ci would empty it.
need_node_modules() {
  [ ! -L "$root/node_modules" ] || return 0
  local installed=$root/node_modules/.package-lock.json
  local stamp=$root/node_modules/.heed-lock.json
  if [ -f "$installed" ]; then
    cmp -s "$root/package-lock.json" "$stamp" && return
    [ ! "$root/package-lock.json" -nt "$installed" ] && return
  fi
  say "installing the npm packages"
  quietly npm ci --prefix "$root" || fail "npm ci failed (see above; is there a network?)"
  cp "$root/package-lock.json" "$stamp"
}

# build_preset PRESET [TARGET...]: configures and builds one preset of CMakePresets.json.
build_preset() {
  local preset=$1
  shift
  (cd "$root" && quietly cmake --preset "$preset" && quietly cmake --build --preset "$preset" ${1:+--target "$@"})
}
