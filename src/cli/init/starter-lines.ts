import { shellWord } from '../../core/text/index.ts';
import { fitRows } from '../../report/index.ts';
import { shownPath } from '../../stores/index.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** What the starter is, and how to begin. */
export function starterLines(
  path: string,
  files: Readonly<Record<string, string>>,
  { io, called, lineWidth, colors: { bold, dim } }: Terminal,
): string[] {
  const cwd = io.cwd();
  const isHere = path === cwd;
  const what = [' how it is trained', ' what is learned from', ' where training starts'];
  const names = Object.keys(files).map((name, index) => `  ${name.padEnd(22)}${dim(what[index]!)}`);
  const lines = [
    `wrote a project into ${isHere ? 'this folder' : shownPath(path, cwd)}`,
    ...names,
    '',
    'next:',
    ...(isHere ? [] : [`  ${bold(`cd ${shellWord(shownPath(path, cwd))}`)}`]),
    `  ${bold(called('skillopt train', path))}         ${dim('offline, with simulated models, in a few seconds')}`,
    `  ${bold(called('skillopt diff starter', path))}  ${dim('what was learned')}`,
    `then put your tasks into tasks.jsonl and name real models as ${Object.keys(files)[0]} says`,
  ];
  return fitRows(lines.join('\n'), lineWidth).split('\n');
}
