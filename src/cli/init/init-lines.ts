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
import { fitRows, nameSome, wrap } from '../../report/index.ts';
import { shownPath } from '../../stores/index.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Row = readonly [what: string, text: string];

type Made = { readonly found: FolderFindings; readonly choice: Choice; readonly proposal?: Proposal };
type Told = { readonly written: readonly string[]; readonly next: Next; readonly cautions: readonly string[] };

export function initLines({ found, choice, proposal }: Made, told: Told, terminal: Terminal): string[] {
  const { written, next, cautions } = told;
  const { width } = terminal;
  const { bold, dim } = terminal.colors;
  const names = `Wrote ${written.join(', ').replace(/, ([^,]*)$/, ' and $1')}; nothing else was touched.`;
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
    ...wrap(written.length === 0 ? 'Nothing was written: that file is the project.' : names, width),
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

const some = (names: readonly string[]) => nameSome(names, MOST_NAMED);

function decidedRows({ skill, source, columns, scoring, models }: Choice, { settings }: Proposal): Row[] {
  const tasks = source?.kind === 'tasks' ? source.tasks : undefined;
  const mapping = tasks ? mappingOf({ ...tasks.columns, ...columns }) : '';
  const { target, judge } = settings;
  return [
    ['skill', skill ? skill.path : 'SKILL.md, a new one: there was none'],
    ['tasks', source ? `${source.path}${mapping ? `: ${mapping}` : ''}` : 'to be drafted from the skill'],
    ...(scoring && tasks?.format === 'rows' ? [['scoring', `${scoring.name}, since ${scoring.why}`] as const] : []),
    ['models', models ? `${models.label}, since ${models.why}` : 'none yet'],
    ...(target === 'none' ? [['target', 'none: the environment asks no model'] as const] : []),
    ...(judge ? [['judge', `${nameOf(judge)}, since a model scores these tasks`] as const] : []),
  ];
}

const nameOf = (spec: unknown): string =>
  typeof spec === 'string' ? spec : String((spec as { model?: unknown }).model);

export function starterLines(path: string, files: readonly string[], terminal: Terminal): string[] {
  const { called, lineWidth } = terminal;
  const { bold, dim } = terminal.colors;
  const cwd = terminal.io.cwd();
  const isHere = path === cwd;
  const what = [' how it is trained', ' what is learned from', ' where training starts', ' keeps runs out of git'];
  const names = files.map((name, index) => `  ${name.padEnd(22)}${dim(what[index]!)}`);
  const lines = [
    `wrote a project into ${isHere ? 'this folder' : shownPath(path, cwd)}`,
    ...names,
    '',
    'next:',
    ...(isHere ? [] : [`  ${bold(`cd ${shellWord(shownPath(path, cwd))}`)}`]),
    `  ${bold(called('skillopt train', path))}         ${dim('offline, with simulated models, in a few seconds')}`,
    `  ${bold(called('skillopt diff starter', path))}  ${dim('what was learned')}`,
    `then put your tasks into tasks.jsonl and name real models as ${files[0]} says`,
  ];
  return fitRows(lines.join('\n'), lineWidth).split('\n');
}
