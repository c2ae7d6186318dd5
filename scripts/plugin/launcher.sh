#!/bin/sh
# Starts `skillopt mcp` for an agent. Nothing that the open project brings along may run: passed over are relative entries of
# PATH, folders of the project, every node_modules/.bin, and links that lead there. No program is called before PATH is clean.
unset CDPATH
set -f

# A project's settings can set variables with which Node and OpenSSL load code, trust other servers, or write files. A line break in
# a value may look like one more name: only whole names of these kinds are unset, and that is right whoever wrote them.
ca=$NODE_EXTRA_CA_CERTS
while IFS= read -r line; do
  name=${line%%=*} # after "export ", or "declare -x "
  name=${name##* }
  case $name in *[!A-Za-z0-9_]*) continue ;; esac
  case $name in NODE_* | OPENSSL_* | SSL_CERT_*) unset "$name" ;; esac
done <<END
$(export -p)
END

# The project: the checkout around the current folder, or the folder itself. A home is no project.
here=$(pwd -P)
root=$here
while [ -n "$root" ] && [ ! -e "$root/.git" ]; do root=${root%/*}; done
[ -n "$root" ] || root=$here
home=$(cd "${HOME:-/}" 2>/dev/null && pwd -P)

holds() { # holds FOLDER PATH
  case $2/ in "$1"/*) return 0 ;; esac
  return 1
}
! holds "$root" "$home" || root=$here
! holds "$root" "$home" || root=

is_foreign() {
  case $1/ in */node_modules/.bin/*) return 0 ;; esac
  [ -n "$root" ] && holds "$root" "$1"
}

# A state folder in the project would hold consents that nobody gave.
is_outside() {
  case $1 in '~' | '~/'*) set -- "$home${1#'~'}" ;; esac
  case $1 in /*) ;; *) return 1 ;; esac
  real=$(cd "$1" 2>/dev/null && pwd -P) || real=$1
  ! is_foreign "$1" && ! is_foreign "$real"
}
is_outside "$SKILLOPT_HOME" || unset SKILLOPT_HOME
is_outside "$XDG_STATE_HOME" || unset XDG_STATE_HOME

# Behind the proxy of a company, Node needs its certificates.
case $ca in
  /*) if [ -f "$ca" ] && is_outside "${ca%/*}/"; then NODE_EXTRA_CA_CERTS=$ca && export NODE_EXTRA_CA_CERTS; fi ;;
esac

# The skillopt of the person. An install pins it instead.

clean=
IFS=:
for folder in $PATH; do
  case $folder in /*) ;; *) continue ;; esac
  real=$(cd "$folder" 2>/dev/null && pwd -P) || continue
  if is_foreign "$folder" || is_foreign "$real"; then continue; fi
  clean=$clean${clean:+:}$real
done
PATH=${clean:-/usr/bin:/bin}
export PATH

for folder in $PATH; do
  [ -f "$folder/skillopt" ] && [ -x "$folder/skillopt" ] || continue
  target=$(readlink -f "$folder/skillopt" 2>/dev/null || printf %s "$folder/skillopt")
  if is_foreign "$target"; then continue; fi
  exec "$folder/skillopt" mcp
done

echo 'skillopt is not installed: no program skillopt on PATH outside of the project. Install it: npm install -g skillopt' >&2
exit 127
