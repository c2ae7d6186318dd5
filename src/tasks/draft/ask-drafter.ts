import { readFileSync } from 'node:fs';
import { z } from 'zod';
import {
  type ChatModel,
  dataSection,
  HEADINGS,
  parseConfig,
  promptSection,
  type RunCaches,
  type SkillOptConfigInput,
  skillSection,
  taskCountLine,
} from '../../core/contracts/index.ts';
import type { RunObserver } from '../../core/run/index.ts';
import { apportion, QaItem } from '../../envs/index.ts';
import { askForJson, createStop, type StageDeps } from '../../pipeline/index.ts';
import type { SkillFile } from '../../skills/index.ts';
import { createRunDeps, notify } from '../../train/index.ts';
import { CONTROL, type DraftRow, type TaskRow } from '../task-file.ts';

/** A part of what a skill covers. */
type Topic = { readonly name: string; readonly about: string };

export type Subject = {
  readonly skill: string;
  readonly files: readonly SkillFile[];
  /** Whether a model can score answers by criteria: the project names a judge. */
  readonly hasJudge: boolean;
};

type AskDeps = Pick<StageDeps, 'optimizer' | 'stop'>;

const MOST_TOPICS = 12;
const MOST_OUTPUT = 8_192;
/** Further ones are repeated all the same, and cost tokens. */
const MOST_SHOWN = 60;

const promptOf = (name: string) => readFileSync(new URL(`./prompts/${name}.md`, import.meta.url), 'utf8');

const Outline = z.object({
  skillTopics: z.array(z.object({ name: z.string().min(1).max(80), about: z.string().default('') })).min(1),
});

/** What the skill covers. A reply that cannot be read is one topic: the skill as a whole. */
export async function askForOutline(subject: Subject, { optimizer, stop }: AskDeps): Promise<Topic[]> {
  const question = { system: promptOf('outline_skill'), user: skillText(subject).join('\n\n'), stage: 'outline' };
  const asked = { ...question, schema: Outline, maxOutputTokens: MOST_OUTPUT, isAskedAgain: true };
  const reply = await askForJson(asked, { model: optimizer, stop });
  const topics = reply?.skillTopics ?? [{ name: 'skill', about: 'All that the skill teaches.' }];
  const named = new Map(topics.map((topic) => [topic.name.trim().toLowerCase(), topic]));
  named.delete(CONTROL);
  return [...named].slice(0, MOST_TOPICS).map(([name, { about }]) => ({ name, about }));
}

function skillText({ skill, files }: Subject): string[] {
  const text = files.map((file) => `${file.path}\n\n${file.text}`).join('\n\n');
  return [skillSection(skill), ...(files.length === 0 ? [] : [dataSection(HEADINGS.files, 'surroundings', text)])];
}

type DraftRequest = {
  /** Without one: tasks beside the field of the skill. */
  readonly topic: Topic | undefined;
  readonly count: number;
  /** Questions that are there already. */
  readonly known: readonly string[];
  readonly round: number;
};

const Drafts = z.object({ taskDrafts: z.array(z.unknown()) });

/** Drafts of one kind, as far as they can be read; nothing where the whole reply cannot be. */
export async function askForDrafts(
  { topic, count, known, round }: DraftRequest,
  subject: Subject,
  { optimizer, stop }: AskDeps,
): Promise<ReadDraft[]> {
  const shown = known.slice(-MOST_SHOWN).map((question) => `- ${question.replace(/\s+/g, ' ')}`);
  const user = [
    ...skillText(subject),
    ...(topic ? [dataSection(HEADINGS.topic, 'topic', `${topic.name}: ${topic.about}`)] : []),
    ...(shown.length > 0 ? [dataSection(HEADINGS.questions, 'questions', shown.join('\n'))] : []),
    promptSection(HEADINGS.taskCount, taskCountLine(count)),
  ].join('\n\n');
  const system = promptOf(topic ? 'draft_tasks' : 'draft_controls').replace('{{kinds}}', kindsFor(subject));
  const question = { system, user, stage: 'draft', schema: Drafts, sampleIndex: round, isAskedAgain: true };
  const reply = await askForJson({ ...question, maxOutputTokens: MOST_OUTPUT }, { model: optimizer, stop });
  const taskType: DraftRow['taskType'] = topic?.name ?? CONTROL;
  return (reply?.taskDrafts ?? []).slice(0, count).map((draft) => readDraft(draft, { taskType, ...subject }));
}

/** How answers may be scored. */
function kindsFor({ hasJudge }: Subject): string {
  const answers =
    '- `answers` is the right answer as short as it can be, or every way to write it: the given answer must be one of them, but for case and punctuation.';
  const checks =
    '- Where no short answer is right, leave `answers` out and give `checks`, for example `[{ "type": "icontains", "value": "supervisor" }, { "type": "word-count", "value": { "max": 80 } }]`. There is `contains`, `icontains`, `contains-all`, `starts-with`, `regex`, `is-json`, `word-count`; `"not": true` turns one round.';
  const criteria =
    '- Where only a reader can tell, leave both out and give `criteria`: two to five statements that each hold of a good answer or do not.';
  return [answers, checks, ...(hasJudge ? [criteria] : [])].join('\n');
}

/** A draft that can be a task, or why it cannot. */
export type ReadDraft = { readonly row: DraftRow } | { readonly question: string; readonly problem: string };

const filled = z.string().trim().min(1);
const answer = z.union([filled, z.number().transform(String)]);

/** As models write it: one answer without a list, and parts that are there and empty. */
const Draft = z.object({
  question: filled,
  answers: z.union([answer.transform((one) => [one]), z.array(answer)]).nullish(),
  checks: z.array(z.record(z.string(), z.unknown())).nullish(),
  criteria: z.array(filled).nullish(),
  why: z.string().nullish(),
});

type Kind = { readonly taskType: string; readonly hasJudge: boolean };

/** A row for the task file, checked as the reader of the file will check it. */
function readDraft(value: unknown, { taskType, hasJudge }: Kind): ReadDraft {
  const { data, error } = Draft.safeParse(value);
  if (!data) return { question: '', problem: `no task: ${error.issues[0]!.message}` };
  const { question, why } = data;
  const scored = scoringOf(data, hasJudge);
  if (!scored) return { question, problem: 'it has nothing to be scored by' };
  const about = { taskType, why: why?.trim() ?? '' };
  const row: DraftRow = { question, ...scored, ...about, drafted: true, reviewed: false };
  const { success } = QaItem.safeParse({ id: 'draft', ...row });
  return success ? { row } : { question, problem: 'its checks are not valid' };
}

function scoringOf({ answers, checks, criteria }: z.output<typeof Draft>, hasJudge: boolean) {
  if (answers?.length) return { answers: [...new Set(answers)] };
  if (checks?.length) return { judge: { kind: 'checks', checks } } as unknown as Pick<DraftRow, 'judge'>;
  return criteria?.length && hasJudge ? { judge: { kind: 'rubric' as const, criteria } } : undefined;
}

/** A kind of task, and how many of it are to be there in the end. `topic` is missing for those beside the field. */
export type Quota = { readonly taskType: string; readonly topic: Topic | undefined; readonly count: number };

/** Of ten tasks one is a control. */
const CONTROL_SHARE = 0.1;

/** Controls, and an equal share for every topic. */
export function quotasFor(topics: readonly Topic[], n: number): Quota[] {
  const controls = Math.round(n * CONTROL_SHARE);
  const shares = apportion(
    n - controls,
    topics.map(() => 1),
  );
  const own = topics.map((topic, place) => ({ taskType: topic.name, topic, count: shares[place]! }));
  return [...own, { taskType: CONTROL, topic: undefined, count: controls }].filter(({ count }) => count > 0);
}

/**
 * How many of each kind are missing, never more than `room` together. Tasks of other kinds take room too. When `isOpen`, what
 * some kinds could not give is asked of all of them.
 */
export function missingOf(quotas: readonly Quota[], rows: readonly TaskRow[], room: number, isOpen: boolean): number[] {
  const lacking = quotas.map(({ taskType, count }) =>
    Math.max(0, count - rows.filter((row) => row.taskType === taskType).length),
  );
  const total = lacking.reduce((sum, count) => sum + count, 0);
  const weights = isOpen ? lacking.map((count) => count + 0.5) : lacking;
  const wanted = isOpen ? room : Math.min(room, total);
  return wanted <= 0 || total + room === 0 ? quotas.map(() => 0) : apportion(wanted, weights);
}

const SPLITS = ['train', 'val', 'test'] as const;
const RATIO = [4, 3, 3];

/** Where the tasks of a file name their splits, each new one must too: where most are missing. Elsewhere the reader divides them. */
export function assignSplits(rows: readonly DraftRow[], existing: readonly TaskRow[]): DraftRow[] {
  if (!existing.some(({ split }) => typeof split === 'string')) return [...rows];
  const total = existing.length + rows.length;
  const wanted = apportion(total, RATIO);
  const left = SPLITS.map((name, place) => wanted[place]! - existing.filter(({ split }) => split === name).length);
  return rows.map((row) => {
    const place = left.indexOf(Math.max(...left));
    left[place]! -= 1;
    return { ...row, split: SPLITS[place]! };
  });
}

type DrafterOptions = {
  /** Drafts, solves, and scores by criteria. */
  readonly model: ChatModel;
  /** Limits, workers, retries and prices. */
  readonly config?: SkillOptConfigInput | undefined;
  readonly caches?: RunCaches | undefined;
  readonly observers?: readonly RunObserver[] | undefined;
  readonly signal?: AbortSignal | undefined;
};

type OpenDrafter = Disposable & {
  readonly stages: StageDeps;
  readonly takeUsage: ReturnType<typeof createRunDeps>['takeUsage'];
};

/** A model in what every run has: cache, meter, retry, rate limit and the limits of the configuration. */
export function openDrafter({ model, config, caches, observers = [], signal }: DrafterOptions): OpenDrafter {
  const stop = createStop(signal);
  const { deps, takeUsage } = createRunDeps({
    ...{ config: parseConfig(config), target: model, optimizer: model, judge: model, caches, observers, stop },
    promptOverrides: {},
    onProgress: () => {},
    onWarning: (message) => notify(observers, 'onWarning', message),
  });
  return { stages: deps, takeUsage, [Symbol.dispose]: () => stop[Symbol.dispose]() };
}
