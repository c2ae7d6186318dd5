import { join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import type { Columns } from '../../envs/index.ts';
import { readHead } from '../../imports/index.ts';
import {
  type Choice,
  checkModelSpec,
  describeSource,
  type FolderFindings,
  type FoundTasks,
  type ModelOption,
  mappingOf,
  modelOptions,
  type ProposedScoring,
  proposeScoring,
  SCORINGS,
  SIMULATED,
  type Source,
  STARTER_TASKS,
  skillsOf,
  sourcesOf,
  starterProject,
  weighTasks,
} from '../../project/index.ts';

/** A person who can be asked, or a program that answers. */
export type Asker = {
  /** The first option is the likeliest. */
  choose<Value>(question: string, options: readonly ChoiceOption<Value>[]): Promise<Value>;
  /** A line; an empty one is an answer too. `problemWith` says what is wrong with one. */
  write(question: string, placeholder: string, problemWith: (text: string) => string | undefined): Promise<string>;
};

type ChoiceOption<Value> = { readonly value: Value; readonly label: string; readonly hint?: string };

/** What is likeliest, or what a person says: at most five questions, and only those with more than one answer. */
export async function chooseProject(found: FolderFindings, asker?: Asker): Promise<Choice> {
  const pick = <Value>(question: string, options: readonly ChoiceOption<Value>[]) =>
    asker && options.length > 1 ? asker.choose(question, options) : Promise.resolve(options[0]?.value);
  const skill = await pick(
    'Which skill is to be trained?',
    skillsOf(found).map((value) => ({ value, label: value.path, hint: value.name })),
  );
  const sources = sourcesOf(found, skill).map((value) => ({ value, label: describeSource(value) }));
  const source = await pick<Source>('What is it trained on?', sources);
  const tasks = source?.kind === 'tasks' ? source.tasks : undefined;
  const columns = (tasks && (await pick('Which column is which?', mappings(tasks)))) ?? {};
  const scoring = tasks && (await pick('How are answers scored?', scorings(tasks)));
  const options = await modelsFor(found, source);
  const models = await pick(
    'Which models?',
    options.map((value) => ({ value, label: value.label, hint: value.why })),
  );
  const path = tasks && join(found.directory, tasks.path);
  const weighed = path && (await weighTasks(path, { columns, scoring: toScoring(scoring) }));
  return { skill, source, columns, scoring, weighed: weighed || undefined, models: models ?? (await typed(asker)) };
}

const toScoring = (proposed: ProposedScoring | undefined) =>
  typeof proposed?.scoring === 'string'
    ? { kind: proposed.scoring }
    : (proposed?.scoring as { kind: string } | undefined);

/** As it was guessed, and the other way round. */
function mappings({ guessed }: FoundTasks): { value: Columns; label: string }[] {
  const { question, answers } = guessed;
  const label = (columns: Columns) => mappingOf(columns) || 'as they are called';
  if (question === undefined || answers === undefined) return [{ value: guessed, label: label(guessed) }];
  const turned = { ...guessed, question: answers, answers: question };
  return [guessed, turned].map((value) => ({ value, label: label(value) }));
}

/** Only long answers leave a choice. */
function scorings({ answers }: FoundTasks): { value: ProposedScoring; label: string; hint: string }[] {
  const proposed = proposeScoring(answers);
  const first = { value: proposed, label: proposed.name, hint: proposed.why };
  if (proposed.name !== 'rubric') return [first];
  const exact = { ...SCORINGS.exact, why: 'one of the answers must be given, word for word' };
  return [first, { value: exact, label: 'exact', hint: exact.why }];
}

async function modelsFor(found: FolderFindings, source: Source | undefined): Promise<ModelOption[]> {
  const isStarter = source?.kind === 'tasks' && (await isOfStarter(found, source.path));
  return [...(isStarter ? [SIMULATED] : []), ...modelOptions(found.models)];
}

async function isOfStarter({ directory }: FolderFindings, path: string): Promise<boolean> {
  if (path !== STARTER_TASKS) return false;
  const starter = Buffer.from(starterProject('json', 'starter')[STARTER_TASKS]!);
  return (await readHead(join(directory, path), starter.length + 1)).equals(starter);
}

async function typed(asker: Asker | undefined): Promise<ModelOption | undefined> {
  if (!asker) return undefined;
  const spec = await asker.write(
    'Which model? Nothing was found that could be asked.',
    'openai:MODEL, or later',
    problemWith,
  );
  return spec === '' ? undefined : { label: spec, why: 'you named it', target: spec, optimizer: spec, judge: spec };
}

function problemWith(spec: string): string | undefined {
  try {
    checkModelSpec(spec, 'target');
    return undefined;
  } catch (error) {
    return error instanceof SkillError ? `${error.message}. ${error.hint ?? ''}` : String(error);
  }
}
