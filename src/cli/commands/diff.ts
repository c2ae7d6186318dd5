import { createTwoFilesPatch } from 'diff';
import { printable } from '../../core/text/printable.ts';
import { findRun, onlyRun } from '../../runs/load-run.ts';
import { versionFinder } from '../../runs/skill-version.ts';
import { type DefineCommand, examples } from '../define-command.ts';
import { runPlace } from '../night-runs.ts';
import type { Colors } from '../terminal/colors.ts';

export const define: DefineCommand = (command, terminal) => {
  command
    .argument('[run]', 'name of a run or a night, or its path (default: the only run)')
    .argument('[a]', 'initial, best, current, or a step', 'initial')
    .argument('[b]', 'the same', 'best')
    .option('--root <dir>', 'folder of runs', 'runs')
    .option('--json', 'one JSON object on stdout')
    .addHelpText('after', EXAMPLES)
    .action(async (given: string | undefined, from: string, to: string, { root }: { root: string }) => {
      const name = given ?? (await onlyRun({ cwd: terminal.io.cwd(), root }));
      const { watch, find } = versionFinder([from, to]);
      const { state } = await findRun(...runPlace(name, root, terminal), watch);
      const [before, after] = [find(from, state), find(to, state)];
      const isChanged = before !== after;
      const patch = isChanged ? patchOf({ from, to, before, after }) : '';
      const lines = isChanged ? coloured(patch, terminal.colors) : [`no difference between ${from} and ${to}`];
      terminal.answer({ run: name, from, to, isChanged, patch }, lines);
    });
};

const MOST_EDITS = 1_000;

type Versions = Readonly<Record<'from' | 'to' | 'before' | 'after', string>>;

/** Versions with little in common are shown one after the other: to look for more would take minutes. */
export function patchOf({ from, to, before, after }: Versions): string {
  const [old, young] = [before.split('\n'), after.split('\n')];
  const isHopeless = Math.abs(old.length - young.length) > MOST_EDITS + 1; // each line more is an edit; a last one may be none
  const options = { maxEditLength: MOST_EDITS };
  const patch = isHopeless ? undefined : createTwoFilesPatch(from, to, before, after, undefined, undefined, options);
  const marked = (sign: string, lines: readonly string[]) => lines.map((line) => `${sign}${line}`);
  return patch ?? [`--- ${from}`, `+++ ${to}`, ...marked('-', old), ...marked('+', young), ''].join('\n');
}

const EXAMPLES = examples([
  ['skillopt diff demo', 'what training changed'],
  ['skillopt diff demo 2 3', 'what step 3 changed'],
  ['skillopt diff demo best current', 'the best version against the last'],
]);

/** The patch as lines, without the ruler above its head. */
export function coloured(patch: string, { green, red, cyan, bold }: Colors): string[] {
  const paint = (line: string) => {
    if (/^(---|\+\+\+) /.test(line)) return bold(line);
    if (line.startsWith('@@')) return cyan(line);
    if (line.startsWith('+')) return green(line);
    return line.startsWith('-') ? red(line) : line;
  };
  return printable(patch)
    .trimEnd()
    .split('\n')
    .filter((line) => !/^=+$/.test(line))
    .map(paint);
}
