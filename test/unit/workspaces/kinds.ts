import { readdirSync, readFileSync } from 'node:fs';
import { probeSandbox, type Sandbox, sandboxes } from 'skillopt/workspaces';
import { isMissing } from '../../support/machine.ts';

export const probe = await probeSandbox();

/** Whether the tests of bubblewrap are skipped, which is said. */
export const lacksBubblewrap = isMissing('bubblewrap', probe.auto !== undefined);

/** Every sandbox that works here. */
export const kinds: [string, (root?: string) => Sandbox][] = [
  ['none', (root) => sandboxes.none({ root })],
  ...(lacksBubblewrap
    ? []
    : [['bubblewrap', (root?: string) => sandboxes.bubblewrap({ root })] as [string, () => Sandbox]]),
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
