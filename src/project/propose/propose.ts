import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { agentClis } from '../../agents/index.ts';
import { plural, shellWord } from '../../core/text/index.ts';
import { type Columns, isTooFew, sizesText } from '../../envs/index.ts';
import { megabytes } from '../../imports/index.ts';
import { skillNameFor } from '../../skills/index.ts';
import type { FolderFiles, FolderFindings, FoundSkill } from '../discover/found.ts';
import type { ProjectInput } from '../project.ts';
import { isPaid, type ModelOption } from './model-options.ts';
import type { ProposedScoring, Source, WeighedTasks } from './sources.ts';

/** What a person chose, or what is likeliest. */
export type Choice = {
  readonly skill: FoundSkill | undefined;
  readonly source: Source | undefined;
  /** Names of columns that are not the usual ones. */
  readonly columns: Columns;
  readonly scoring: ProposedScoring | undefined;
  readonly models: ModelOption | undefined;
  readonly weighed: WeighedTasks | undefined;
};

/** A key of the project file with a comment. Without a value the whole entry is a comment. */
export type ConfigEntry = {
  readonly key: string;
  readonly value?: unknown;
  readonly example?: string;
  readonly why: string;
};

export type Proposal = {
  readonly entries: readonly ConfigEntry[];
  readonly settings: ProjectInput;
  /** The skill that is written because there is none. */
  readonly newSkill: string | undefined;
  /** What is needed before training. */
  readonly missing: 'tasks' | 'models' | undefined;
  /** Models that have to be named. */
  readonly unset: readonly string[];
};

/** Where drafted tasks are written. */
export const DRAFTS = 'tasks.jsonl';

/** The project file for a choice, key by key. `folderName` names the project where no skill does. */
export function propose(choice: Choice, folderName: string): Proposal {
  const { skill, models } = choice;
  const name = runName(skill?.name ?? folderName);
  const entries = [
    { key: 'name', value: name, why: `Its runs are kept in runs/${name}.` },
    skillEntry(skill, name),
    ...sourceEntries(choice),
    ...modelEntries(choice),
    ...(models && isPaid(models) ? [LIMIT] : []),
  ];
  const given = entries.filter(({ value }) => value !== undefined).map(({ key, value }) => [key, value]);
  return {
    entries,
    settings: Object.fromEntries(given) as ProjectInput,
    newSkill: skill ? undefined : skillText(name),
    missing: models === undefined ? 'models' : hasTasks(choice) ? undefined : 'tasks',
    unset: modelEntries(choice).flatMap(({ key, value }) => (value === undefined ? [key] : [])),
  };
}

/** Whether there is enough to train on. Problems of the tasks are cautions. */
export function hasTasks({ source, weighed }: Choice): boolean {
  if (source === undefined) return false;
  return (
    weighed === undefined ||
    weighed.problem !== undefined ||
    weighed.largeBytes !== undefined ||
    !isTooFew(weighed.sizes)
  );
}

/** A name that a folder of runs can have. */
function runName(name: string): string {
  const plain = skillNameFor(name)
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9-]+/g, '')
    .replace(/^-+|-+$/g, '');
  return plain || 'skill';
}

function skillEntry(skill: FoundSkill | undefined, name: string): ConfigEntry {
  const why = `Training starts from this skill and only reads it. skillopt apply ${name} writes the better one back.`;
  return { key: 'skill', value: skill?.path ?? 'SKILL.md', why };
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
  return [
    scoring.scoring === undefined
      ? { key: 'scoring', example: 'contains', why }
      : { key: 'scoring', value: scoring.scoring, why },
  ];
}

/** Whether a model scores some answers. */
const asksJudge = ({ source, scoring, weighed }: Choice): boolean =>
  weighed?.asksJudge === true || scoring?.name === 'rubric' || (source?.kind === 'env' && source.env.asksJudge);

function modelEntries(choice: Choice): ConfigEntry[] {
  const { models, source } = choice;
  const isOwnAgent = source?.kind === 'env' && !source.env.asksTarget;
  const target = isOwnAgent
    ? { key: 'target', value: 'none', why: `${source.path} asks no model: it brings its own agent.` }
    : entryOf('target', models?.target, `The model that the skill is for${models ? `: ${models.why}` : ''}.`);
  return [
    target,
    entryOf('optimizer', models?.optimizer, 'The model that reads the results of the tasks and proposes edits.'),
    ...(asksJudge(choice) ? [entryOf('judge', models?.judge, 'The model that scores the answers.')] : []),
  ];
}

const entryOf = (key: string, value: unknown, why: string): ConfigEntry =>
  value === undefined ? { key, example: 'openai:MODEL', why } : { key, value, why };

const LIMIT: ConfigEntry = {
  key: 'maxCostUsd',
  example: '5',
  why: 'A hard limit: a run stops before it. With a higher limit the run can be resumed.',
};

/** Fewer tasks prove only a large gain. */
const ENOUGH_TASKS = 30;

/** What a person who made this choice should know. */
export function cautionsFor(choice: Choice, found: FolderFindings): string[] {
  return [...skillCautions(choice.skill, found), ...taskCautions(choice), ...leftOutCautions(found)];
}

function skillCautions(skill: FoundSkill | undefined, { skills, directory, models }: FolderFindings): string[] {
  if (skill === undefined) return [];
  const others = skills.length - 1;
  const hasScripts = existsSync(join(directory, skill.path.replace(/SKILL\.md$/i, ''), 'scripts'));
  const agent = hasScripts ? agentFor(models) : undefined;
  const lint = `skillopt skill lint ${shellWord(skill.path)}`;
  return [
    ...(skill.problem ? [`${skill.problem}. Agents read name and description there. All problems: ${lint}`] : []),
    ...(others > 0
      ? [`${others} more ${others === 1 ? 'skill is' : 'skills are'} here: --skill PATH takes another`]
      : []),
    ...(agent
      ? [
          `the skill has scripts, and a chat model cannot run them. To train it with an agent, on tasks with files: target: { agent: ${agent} } and env: workspace (docs/agents.md)`,
        ]
      : []),
  ];
}

/** The name of an installed agent that can work with tools, one that is signed in first. */
function agentFor({ agents }: FolderFindings['models']): string | undefined {
  const agent = agents.find(({ isSignedIn }) => isSignedIn) ?? agents[0];
  return agent && agentClis[agent.cli].name;
}

function taskCautions({ source, weighed }: Choice): string[] {
  if (weighed === undefined || source?.kind !== 'tasks') return [];
  const { problem, count, leftOut, largeBytes, sizes } = weighed;
  if (problem !== undefined) return [`the tasks cannot be used yet: ${problem}`];
  if (largeBytes !== undefined) {
    const size = megabytes(largeBytes);
    return [
      `${source.path} is large (${size}): init read only its beginning, and train reads all of it. A few hundred tasks are usually enough`,
    ];
  }
  if (isTooFew(sizes)) return [`training makes no sense yet with ${sizesText(sizes)}`];
  const few = `${plural(count, 'task proves', 'tasks prove')} only a large gain; ${ENOUGH_TASKS} or more are better`;
  const out = `${plural(leftOut, 'thing')} in ${source.path} ${leftOut === 1 ? 'is' : 'are'} left out; train names them`;
  return [...(count < ENOUGH_TASKS ? [few] : []), ...(leftOut > 0 ? [out] : [])];
}

/** What was found and not used, and where the search ended. */
export const leftOutCautions = ({ brokenSkills, leftOut, notes }: FolderFiles): string[] => [
  ...[...brokenSkills, ...leftOut].map(({ path, why }) => `${path} is left out: ${why}`),
  ...notes,
];
