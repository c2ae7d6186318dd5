import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type SleepHome, sleepHome } from '../../../../support/sleep/sleep-home.ts';

/** As Debian's cron behaves, with its words; `deny` beside the crontab is a user who is not in cron.allow. */
const CRONTAB = `#!/bin/sh
file="$HOME/spool/crontab"
fail() { printf '%b\\n' "$1" >&2; exit 1; }
[ -e "$HOME/spool/deny" ] && fail 'You (ann) are not allowed to use this program (crontab)\\nSee crontab(1) for more information'
case "$1" in
  -l | -r) [ -e "$file" ] || fail 'no crontab for ann' ;;
esac
case "$1" in
  -l) exec /bin/cat "$file" ;;
  -r) exec /bin/rm "$file" ;;
  -)
    /bin/cat > "$file.new"
    [ -s "$file.new" ] && [ "$(/usr/bin/tail -c 1 "$file.new")" ] && fail "new crontab file is missing newline before EOF, can't install."
    /bin/mv "$file.new" "$file"
    ;;
esac
`;

/** A manager of the user; `no-bus` is a machine where none answers, `no-enable` one that refuses timers. */
const SYSTEMCTL = `#!/bin/sh
fail() { echo "$1" >&2; exit 1; }
[ -e "$HOME/spool/no-bus" ] && fail 'Failed to connect to bus: No medium found'
case "$*" in
  *'enable '*) [ -e "$HOME/spool/no-enable" ] && fail 'Failed to enable unit' ;;
esac
printf '%s\\n' "$*" >> "$HOME/spool/systemctl.log"
`;

type FakeSystem = { readonly hasManager?: boolean; readonly cli?: Parameters<typeof sleepHome>[0] };

/** A person's home on a machine with cron, and a manager if one is wanted. Nothing of the real machine is touched. */
export function fakeSystem({ hasManager = false, cli }: FakeSystem = {}) {
  const home = sleepHome(cli);
  const file = (name: string) => join(home.path, 'spool', name);
  write(file('.keep'), '');
  if (!hasManager) write(file('no-bus'), '');
  program(home, 'bin/crontab', CRONTAB);
  program(home, 'bin/systemctl', SYSTEMCTL);
  home.env.PATH = join(home.path, 'bin');
  return {
    home,
    put: (name: string, text: string | Buffer) => write(file(name), text),
    crontab: () => (existsSync(file('crontab')) ? readFileSync(file('crontab'), 'latin1') : undefined),
    asked: () => readFileSync(file('systemctl.log'), 'utf8'),
    program: (path: string, body = 'console.log("1.2.3")') => program(home, path, `#!${process.execPath}\n${body}\n`),
    [Symbol.dispose]: () => home[Symbol.dispose](),
  };
}

function program(home: SleepHome, path: string, text: string): string {
  const file = join(home.path, path);
  write(file, text);
  chmodSync(file, 0o755);
  return file;
}

function write(path: string, text: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
