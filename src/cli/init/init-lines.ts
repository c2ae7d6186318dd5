import type { Next } from '../../app/index.ts';
import { oneLine, shellWord } from '../../core/text/index.ts';
import {
  type Choice,
  DEEPEST,
  describeSource,
  type FolderFindings,
  mappingOf,
  type Proposal,
  sourcesOf,
} from '../../project/index.ts';
import { fitRows, wrap } from '../../report/index.ts';
import { shownPath } from '../../stores/index.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Row = readonly [what: string, text: string];

export function initLines(
  { found, choice, proposal }: { found: FolderFindings; choice: Choice; proposal?: Proposal },
  { written, next, cautions }: { written: readonly string[]; next: Next; cautions: readonly string[] },
  terminal: Terminal,
): string[] {
  const {
    width,
    colors: { bold, dim },
  } = terminal;
  const show = ([what, text]: Row) => {
    const [first = '', ...more] = wrap(text, width - INDENT);
    return [`  ${dim(what.padEnd(INDENT - 2))}${first}`, ...more.map((line) => ' '.repeat(INDENT) + line)];
  };
  return [
    bold('found'),
    ...foundRows(found, choice).flatMap(show),
    ...(proposal ? [bold('decided'), ...decidedRows(choice, proposal).flatMap(show)] : []),
    ...cautions.flatMap((text) => noteLines(text, terminal)),
    '',
    ...wrap(
      written.length === 0
        ? 'Nothing was written: that file is the project.'
        : `Wrote ${written.join(' and ')}; nothing else was touched.`,
      width,
    ),
    '',
    ...nextLines(next, terminal),
  ];
}

function nextLines({ first, command, why, afterwards }: Next, { width, colors: { bold } }: Terminal): string[] {
  return [
    ...(first === undefined ? [] : wrap(`next:  ${first}`, width, '       ')),
    `${first === undefined ? 'next:' : 'then:'}  ${bold(command)}`,
    ...(why === '' ? [] : wrap(`       ${why}`, width, '       ')),
    ...(afterwards === undefined ? [] : [`then:  ${bold(afterwards)}`]),
  ];
}

export const noteLines = (text: string, { width, colors: { yellow } }: Terminal): string[] =>
  wrap(`  ${yellow('note:')} ${oneLine(text)}`, width, '  ');

const INDENT = 12;
const MOST_NAMED = 4;

function foundRows(found: FolderFindings, { skill }: Choice): Row[] {
  const { servers, keys, agents } = found.models;
  const models = [
    ...servers.map(({ url, variable, name }) => `${variable ?? name} ${url}`),
    ...keys.map(({ variable, place }) => (place === '.env' ? `${variable} in .env` : variable)),
    ...agents.map(({ cli, isSignedIn }) => (isSignedIn ? `${cli} (signed in)` : cli)),
  ];
  return [
    ['skill', some(found.skills.map(({ path }) => path)) || `none, ${DEEPEST} folders deep`],
    ['tasks', some(sourcesOf(found, skill).map(describeSource)) || 'none'],
    ['models', some(models) || 'none: no key, no server, no agent'],
  ];
}

function some(names: readonly string[]): string {
  const rest = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

function decidedRows({ skill, source, columns, scoring, models }: Choice, { settings }: Proposal): Row[] {
  const tasks = source?.kind === 'tasks' ? source.tasks : undefined;
  const mapping = tasks ? mappingOf({ ...tasks.columns, ...columns }) : '';
  return [
    ['skill', skill ? skill.path : 'SKILL.md, a new one: there was none'],
    ['tasks', source ? `${source.path}${mapping ? `: ${mapping}` : ''}` : 'to be drafted from the skill'],
    ...(scoring && tasks?.format === 'rows' ? [['scoring', `${scoring.name}, since ${scoring.why}`] as const] : []),
    ['models', models ? `${models.label}, since ${models.why}` : 'none yet'],
    ...(settings.target === 'none' ? [['target', 'none: the environment asks no model'] as const] : []),
    ...(settings.judge === undefined
      ? []
      : [['judge', `${nameOf(settings.judge)}, since a model scores these tasks`] as const]),
  ];
}

const nameOf = (spec: unknown): string =>
  typeof spec === 'string' ? spec : String((spec as { model?: unknown }).model);

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
