import type { Tried } from '../../app/index.ts';
import { type AgentRun, type AgentStep, END_WORDS, type FileChange } from '../../core/contracts/index.ts';
import { count, dollars, oneLine, plural, printable } from '../../core/text/index.ts';
import { type Colors, duration, wrap } from '../../report/index.ts';

const OUTPUT_LINES = 6;

type Look = { readonly colors: Colors; readonly width: number };

/** One step of an agent as a person follows it. */
export function stepLines(step: AgentStep, { colors, width }: Look): string[] {
  const { bold, cyan, dim, green, red } = colors;
  if (step.type === 'skill-loaded') return [green(`★ the skill ${oneLine(step.name)} was loaded`)];
  if (step.type === 'text') return wrap(printable(step.text.trim()), width, '  ').map((line) => bold(line));
  if (step.type === 'tool-call')
    return [cut(`${cyan('→')} ${oneLine(step.tool)} ${oneLine(shownInput(step.input))}`, width)];
  const lines = printable(step.output.trimEnd()).split('\n');
  const shown = lines.slice(0, OUTPUT_LINES).map((line) => cut(`  ${line}`, width));
  const more = lines.length > OUTPUT_LINES ? [`  … ${plural(lines.length - OUTPUT_LINES, 'line')} more`] : [];
  const paint = step.isError ? red : dim;
  return step.output.trim() === '' ? [] : [...shown, ...more].map((line) => paint(line));
}

/** What was run or touched, where the input says it. */
function shownInput(input: unknown): string {
  if (typeof input !== 'object' || input === null) return JSON.stringify(input) ?? '';
  const { command, cmd, file_path: file, path, skill, name } = input as Record<string, unknown>;
  const main = command ?? cmd ?? file ?? path ?? skill ?? name;
  return typeof main === 'string' ? main : JSON.stringify(input);
}

const cut = (line: string, width: number) => (line.length <= width + 20 ? line : `${line.slice(0, width + 19)}…`);

/** What came of it: was the skill loaded, what was changed, what did it cost. */
export function triedLines({ id, skill, run, diff, ms }: Tried, { colors }: Look): string[] {
  const { bold, dim, green, yellow } = colors;
  const isLoaded = skill !== undefined && run.skillsLoaded.includes(skill);
  const offered = run.skillsOffered.find(({ name }) => name === skill);
  return [
    '',
    isLoaded
      ? green(`The skill ${skill} was loaded.`)
      : yellow(`The skill ${skill ?? ''} was not loaded${whyNot(offered)}.`),
    `${bold('changed')}  ${diff.changes.length === 0 ? 'nothing' : plural(diff.changes.length, 'file')}`,
    ...diff.changes.map((change) => `  ${marked(change)}`),
    ...diff.leftOut.map((what) => dim(`  not shown: ${what}`)),
    `${bold('ended')}    ${END_WORDS[run.ended]}${run.endReason === undefined ? '' : ` (${run.endReason})`}`,
    `${bold('cost')}     ${costOf(run)}, ${duration(ms)}`,
    dim(id),
  ];
}

function whyNot(offered: AgentRun['skillsOffered'][number] | undefined): string {
  if (offered === undefined) return ': the model was not told of it';
  if (offered.description === 'none') return ': the model was told its name alone';
  return offered.description === 'cut'
    ? ': of its description the model was told a part'
    : '; the model was told of it';
}

const SIGNS = { added: '+', changed: '~', deleted: '-' } as const;
const marked = ({ change, path, note }: FileChange) =>
  `${SIGNS[change]} ${oneLine(path)}${note === undefined ? '' : ` (${oneLine(note)})`}`;

function costOf({ turns, usage, costUsd }: AgentRun): string {
  const tokens = `${count(usage.input)} tokens in (${count(usage.cached)} cached), ${count(usage.output)} out`;
  return `${plural(turns, 'call')}, ${tokens}, ${costUsd === undefined ? 'dollars unknown' : `$${dollars(costUsd)}`}`;
}
