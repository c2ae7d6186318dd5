import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type SleepHome, sleepHome } from '../../../../support/sleep/sleep-home.ts';

/** As Debian's cron behaves, with its words; `deny` beside the crontab is a user who is not in cron.allow. */
const CRONTAB = `
const fs = require('node:fs');
const file = process.env.HOME + '/spool/crontab';
const fail = (text) => { console.error(text); process.exit(1); };
if (fs.existsSync(process.env.HOME + '/spool/deny')) fail('You (ann) are not allowed to use this program (crontab)\\nSee crontab(1) for more information');
const none = 'no crontab for ann';
if (process.argv[2] === '-l') fs.existsSync(file) ? fs.writeSync(1, fs.readFileSync(file)) : fail(none);
if (process.argv[2] === '-r') fs.existsSync(file) ? fs.rmSync(file) : fail(none);
if (process.argv[2] === '-') {
  const bytes = fs.readFileSync(0);
  if (bytes.length > 0 && bytes.at(-1) !== 10) fail("new crontab file is missing newline before EOF, can't install.");
  fs.writeFileSync(file, bytes);
}`;

/** A manager of the user; \`no-bus\` is a machine where none answers, \`no-enable\` one that refuses timers. */
const SYSTEMCTL = `
const fs = require('node:fs');
const spool = process.env.HOME + '/spool/';
const fail = (text) => { console.error(text); process.exit(1); };
if (fs.existsSync(spool + 'no-bus')) fail('Failed to connect to bus: No medium found');
const line = process.argv.slice(2).join(' ');
if (fs.existsSync(spool + 'no-enable') && line.includes('enable ')) fail('Failed to enable unit');
fs.appendFileSync(spool + 'systemctl.log', line + '\\n');`;

/** A person's home on a machine with cron, and a manager if one is wanted. Nothing of the real machine is touched. */
export function fakeSystem({ hasManager = false } = {}) {
  const home = sleepHome();
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
    program: (path: string, body = 'console.log("1.2.3")') => program(home, path, body),
    [Symbol.dispose]: () => home[Symbol.dispose](),
  };
}

function program(home: SleepHome, path: string, body: string): string {
  const file = join(home.path, path);
  write(file, `#!${process.execPath}\n${body}\n`);
  chmodSync(file, 0o755);
  return file;
}

function write(path: string, text: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
