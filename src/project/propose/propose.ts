import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { agentClis } from '../../agents/index.ts';
import { plural, shellWord } from '../../core/text/index.ts';
import { type Columns, isTooFew, sizesText } from '../../envs/index.ts';
import { megabytes } from '../../imports/index.ts';
import { skillNameFor } from '../../skills/index.ts';
import type { FolderFindings } from '../discover/discover.ts';
import type { FolderFiles, FoundSkill } from '../discover/discover-files.ts';
import type { ProjectInput } from '../project.ts';
import { type ConfigEntry, settingsOf } from './config-text.ts';
import { isPaid, type ModelOption } from './model-options.ts';
import type { ProposedScoring, Source, WeighedTasks } from './sources.ts';

/** What a person chose, or what is likeliest. */
export type Choice = {
  readonly skill: FoundSkill | undefined;
  readonly source: Source | undefined;
  readonly columns: Columns;
  readonly scoring: ProposedScoring | undefined;
  readonly models: ModelOption | undefined;
  readonly weighed: WeighedTasks | undefined;
};

export type Proposal = {
  readonly entries: readonly ConfigEntry[];
  readonly settings: ProjectInput;
  readonly newSkill: string | undefined;
  /** What is needed before training. */
  readonly missing: 'tasks' | 'models' | undefined;
  readonly unset: readonly string[];
};

export const DRAFTS = 'tasks.jsonl';

/** The project file for a choice. `folderName` is its name if there is no skill. */
export function propose(choice: Choice, folderName: string): Proposal {
  const { skill, models } = choice;
  const name = runName(skill?.name ?? folderName);
  const entries = [
    { key: 'name', value: name, why: `Its runs are kept in runs/${name}.` },
    {
      key: 'skill',
      value: skill?.path ?? 'SKILL.md',
      why: `Training starts from this skill and only reads it. skillopt apply ${name} writes the better one back.`,
    },
    ...sourceEntries(choice),
    ...modelEntries(choice),
    ...(models && isPaid(models) ? [LIMIT] : []),
  ];
  return {
    entries,
    settings: settingsOf(entries),
    newSkill: skill ? undefined : skillText(name),
    missing: models === undefined ? 'models' : hasTasks(choice) ? undefined : 'tasks',
    unset: modelEntries(choice).flatMap(({ key, value }) => (value === undefined ? [key] : [])),
  };
}

/** Whether there is enough to train on. Problems of the tasks are cautions. */
export function hasTasks({ source, weighed }: Choice): boolean {
  if (source === undefined) return false;
  const isCounted = weighed !== undefined && weighed.problem === undefined && weighed.largeBytes === undefined;
  return !isCounted || !isTooFew(weighed.sizes);
}

function runName(name: string): string {
  const plain = skillNameFor(name).normalize('NFKD');
  return plain.replace(/[^A-Za-z0-9-]+/g, '').replace(/^-+|(?<!-)-+$/g, '') || 'skill';
}

const skillText = (name: string) =>
  `---\nname: ${name}\ndescription: How to answer the tasks of ${name}.\n---\n\n# ${name}\n\nAnswer what is asked.\n`;

function sourceEntries({ source, columns, scoring, weighed }: Choice): ConfigEntry[] {
  if (source === undefined) {
    return [{ key: 'tasks', value: DRAFTS, why: 'This file does not exist yet: skillopt tasks draft writes it.' }];
  }
  if (source.kind === 'env') {
    return [{ key: 'env', value: `./${source.path}`, why: 'Your environment: its tasks, and how they are scored.' }];
  }
  if (source.kind === 'skillopt') return [];
  const atLeast = weighed?.largeBytes === undefined ? '' : 'At least ';
  const count = weighed?.problem === undefined && weighed ? `${atLeast}${plural(weighed.count, 'task')}. ` : '';
  const mapping = mappingOf({ ...source.tasks.columns, ...columns });
  return [
    { key: 'tasks', value: source.path, why: `${count}${mapping || FORMATS[source.tasks.format]}`.trim() },
    ...(Object.keys(columns).length === 0
      ? []
      : [{ key: 'columns', value: columns, why: 'The names of the columns in the file.' }]),
    ...scoringEntries(scoring, source.tasks.format),
  ];
}

const FORMATS = {
  rows: '',
  evals: 'The judge answers each expectation with yes or no.',
  promptfoo: 'Its tests with their assertions. Its prompts and providers are not used.',
};

/** `question ← Frage, answers ← expected`. */
export const mappingOf = (columns: Readonly<Partial<Record<string, string>>>): string =>
  Object.entries(columns)
    .map(([field, column]) => `${field} ← ${column}`)
    .join(', ');

function scoringEntries(scoring: ProposedScoring | undefined, format: string): ConfigEntry[] {
  if (scoring === undefined || format !== 'rows') return [];
  const why = `${scoring.why[0]!.toUpperCase()}${scoring.why.slice(1)}. Other ways: docs/task-judges.md`;
  return [entryOf('scoring', scoring.scoring, why, 'contains')];
}

function modelEntries(choice: Choice): ConfigEntry[] {
  const { models, source, scoring, weighed } = choice;
  const envAsksJudge = source?.kind === 'env' && source.env.asksJudge;
  const asksJudge = weighed?.asksJudge === true || scoring?.name === 'rubric' || envAsksJudge;
  const isOwnAgent = source?.kind === 'env' && !source.env.asksTarget;
  const target = isOwnAgent
    ? { key: 'target', value: 'none', why: `${source.path} asks no model: it brings its own agent.` }
    : entryOf('target', models?.target, `The model that the skill is for${models ? `: ${models.why}` : ''}.`);
  return [
    target,
    entryOf('optimizer', models?.optimizer, 'The model that reads the results of the tasks and proposes edits.'),
    ...(asksJudge ? [entryOf('judge', models?.judge, 'The model that scores the answers.')] : []),
  ];
}

const entryOf = (key: string, value: unknown, why: string, example = 'openai:MODEL'): ConfigEntry =>
  value === undefined ? { key, example, why } : { key, value, why };

const LIMIT: ConfigEntry = {
  key: 'maxCostUsd',
  example: '5',
  why: 'A hard limit: a run stops before it. With a higher limit the run can be resumed.',
};

const ENOUGH_TASKS = 30;

export function cautionsFor(choice: Choice, found: FolderFindings): string[] {
  return [...skillCautions(choice.skill, found), ...taskCautions(choice), ...leftOutCautions(found)];
}

function skillCautions(skill: FoundSkill | undefined, { skills, directory, models }: FolderFindings): string[] {
  if (skill === undefined) return [];
  const others = skills.length - 1;
  const hasScripts = existsSync(join(directory, skill.path.replace(/SKILL\.md$/i, ''), 'scripts'));
  const agent = hasScripts ? agentFor(models) : undefined;
  const lint = `skillopt skill lint ${shellWord(skill.path)}`;
  const problem = `${skill.problem}. Agents read name and description there. All problems: ${lint}`;
  const more = `${others} more ${others === 1 ? 'skill is' : 'skills are'} here: --skill PATH takes another`;
  const scripts = `the skill has scripts, and a chat model cannot run them. To train it with an agent, on tasks with files: target: { agent: ${agent} } and env: workspace (docs/agents.md)`;
  return [...(skill.problem ? [problem] : []), ...(others > 0 ? [more] : []), ...(agent ? [scripts] : [])];
}

function agentFor({ agents }: FolderFindings['models']): string | undefined {
  const agent = agents.find(({ isSignedIn }) => isSignedIn) ?? agents[0];
  return agent && agentClis[agent.cli].name;
}

function taskCautions({ source, weighed }: Choice): string[] {
  if (weighed === undefined || source?.kind !== 'tasks') return [];
  const { problem, count, leftOut, largeBytes, sizes } = weighed;
  if (problem !== undefined) return [`the tasks cannot be used yet: ${problem}`];
  if (largeBytes !== undefined) {
    const advice = 'init read only its beginning, and train reads all of it. A few hundred tasks are usually enough';
    return [`${source.path} is large (${megabytes(largeBytes)}): ${advice}`];
  }
  if (isTooFew(sizes)) return [`training makes no sense yet with ${sizesText(sizes)}`];
  const few = `${plural(count, 'task proves', 'tasks prove')} only a large gain; ${ENOUGH_TASKS} or more are better`;
  const out = `${plural(leftOut, 'thing')} in ${source.path} ${leftOut === 1 ? 'is' : 'are'} left out; train names them`;
  return [...(count < ENOUGH_TASKS ? [few] : []), ...(leftOut > 0 ? [out] : [])];
}

export const leftOutCautions = ({ brokenSkills, leftOut, notes }: FolderFiles): string[] => [
  ...[...brokenSkills, ...leftOut].map(({ path, why }) => `${path} is left out: ${why}`),
  ...notes,
];
