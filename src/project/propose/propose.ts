import { plural } from '../../core/text/index.ts';
import { type Columns, isTooFew } from '../../envs/index.ts';
import { skillNameFor } from '../../skills/index.ts';
import type { FoundSkill } from '../discover/found.ts';
import type { ProjectInput } from '../project.ts';
import { isPaid, type ModelOption } from './model-options.ts';
import type { ProposedScoring } from './propose-scoring.ts';
import type { Source } from './sources.ts';
import type { WeighedTasks } from './weigh-tasks.ts';

/** What a person chose, or what is likeliest. */
export type Choice = {
  readonly skill: FoundSkill | undefined;
  readonly source: Source | undefined;
  /** Names of columns that nobody would know. */
  readonly columns: Columns;
  readonly scoring: ProposedScoring | undefined;
  readonly models: ModelOption | undefined;
  readonly weighed: WeighedTasks | undefined;
};

/** A key of the project file, with what is said about it there. Without a value it stands there as a comment. */
export type Entry = { readonly key: string; readonly value?: unknown; readonly example?: string; readonly why: string };

export type Proposal = {
  readonly entries: readonly Entry[];
  readonly settings: ProjectInput;
  /** The skill that is written because there is none. */
  readonly newSkill: string | undefined;
  /** What has to come before training. */
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

/** Whether there is enough to train on. What is wrong with tasks is said elsewhere. */
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

function skillEntry(skill: FoundSkill | undefined, name: string): Entry {
  const why = `Where training starts. Training only reads it; skillopt apply ${name} puts the better one there.`;
  return { key: 'skill', value: skill?.path ?? 'SKILL.md', why };
}

const skillText = (name: string) =>
  `---\nname: ${name}\ndescription: How to answer the tasks of ${name}.\n---\n\n# ${name}\n\nAnswer what is asked.\n`;

function sourceEntries({ source, columns, scoring, weighed }: Choice): Entry[] {
  if (source === undefined) {
    return [{ key: 'tasks', value: DRAFTS, why: 'Not there yet: skillopt tasks draft writes it.' }];
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
      : [{ key: 'columns', value: columns, why: 'What the file calls them.' }]),
    ...scoringEntries(scoring, source.tasks.format),
  ];
}

const FORMATS = {
  rows: '',
  evals: 'Each expectation is a yes or a no of the judge.',
  promptfoo: 'Its tests and what they assert; its prompts and providers are left aside.',
};

/** `question ← Frage, answers ← expected`. */
export const mappingOf = (columns: Readonly<Partial<Record<string, string>>>): string =>
  Object.entries(columns)
    .map(([field, column]) => `${field} ← ${column}`)
    .join(', ');

function scoringEntries(scoring: ProposedScoring | undefined, format: string): Entry[] {
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

function modelEntries(choice: Choice): Entry[] {
  const { models, source } = choice;
  const isOwnAgent = source?.kind === 'env' && !source.env.asksTarget;
  const target = isOwnAgent
    ? { key: 'target', value: 'none', why: `${source.path} asks no model: it brings its own agent.` }
    : entryOf('target', models?.target, `The model that the skill is for${models ? `: ${models.why}` : ''}.`);
  return [
    target,
    entryOf('optimizer', models?.optimizer, 'The model that reads what came of the tasks and proposes edits.'),
    ...(asksJudge(choice)
      ? [entryOf('judge', models?.judge, 'The model that scores answers by what is asked of them.')]
      : []),
  ];
}

const entryOf = (key: string, value: unknown, why: string): Entry =>
  value === undefined ? { key, example: 'openai:MODEL', why } : { key, value, why };

const LIMIT: Entry = {
  key: 'maxCostUsd',
  example: '5',
  why: 'A hard limit: a run stops before it, and resumes with a higher one.',
};
