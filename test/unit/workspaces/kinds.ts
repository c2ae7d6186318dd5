import { readdirSync, readFileSync } from 'node:fs';
import { probeSandbox, type Sandbox, sandboxes } from 'skillopt/workspaces';

export const probe = await probeSandbox();

/** Every sandbox that works here. Where bubblewrap does not, its tests are skipped by name. */
export const kinds: [string, (root?: string) => Sandbox][] = [
  ['none', (root) => sandboxes.none({ root })],
  ...(probe.auto ? [['bubblewrap', (root?: string) => sandboxes.bubblewrap({ root })] as [string, () => Sandbox]] : []),
];

export const sh = (script: string) => ['/bin/sh', '-c', script];

/** Who runs with this word among its arguments. */
export const processesWith = (word: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && argumentsOf(name).includes(word))
    .map(Number);

function argumentsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return []; // it has ended
  }
}

let marks = 0;

/** A time to sleep that nobody else sleeps. */
export const newMark = () => `${80_000 + (process.pid % 10_000)}.${++marks}`;
