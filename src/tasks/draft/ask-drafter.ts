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

type Topic = { readonly name: string; readonly about: string };

export type Subject = {
  readonly skill: string;
  readonly files: readonly SkillFile[];
  /** Whether a model can score answers by criteria: the project names a judge. */
  readonly hasJudge: boolean;
};

type AskDeps = Pick<StageDeps, 'optimizer' | 'stop'>;

export const MOST_TOPICS = 12;
const MOST_OUTPUT = 8_192;
/** Showing more known questions costs tokens and avoids few repeats. */
const MOST_SHOWN = 60;

const promptOf = (name: string) => readFileSync(new URL(`./prompts/${name}.md`, import.meta.url), 'utf8');

const Outline = z.object({
  skillTopics: z.array(z.object({ name: z.string().min(1).max(80), about: z.string().default('') })).min(1),
});

/** The topics of the skill. If the reply cannot be read, the whole skill is one topic. */
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
  /** Without one, the tasks are controls. */
  readonly topic: Topic | undefined;
  readonly count: number;
  readonly known: readonly string[];
  readonly round: number;
};

const Drafts = z.object({ taskDrafts: z.array(z.unknown()) });

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
  const drafts = (reply?.taskDrafts ?? []).slice(0, count);
  return drafts.map((draft) => readDraft(draft, topic?.name ?? CONTROL, subject.hasJudge));
}

function kindsFor({ hasJudge }: Subject): string {
  const answers =
    '- `answers` is the right answer as short as it can be, or every way to write it: the given answer must be one of them, but for case and punctuation.';
  const checks =
    '- Where no short answer is right, leave `answers` out and give `checks`, for example `[{ "type": "icontains", "value": "supervisor" }, { "type": "word-count", "value": { "max": 80 } }]`. There is `contains`, `icontains`, `contains-all`, `starts-with`, `regex`, `is-json`, `word-count`; `"not": true` turns one round.';
  const criteria =
    '- Where only a reader can tell, leave both out and give `criteria`: two to five statements that each hold of a good answer or do not.';
  return [answers, checks, ...(hasJudge ? [criteria] : [])].join('\n');
}

export type ReadDraft = { readonly row: DraftRow } | { readonly question: string; readonly problem: string };

const filled = z.string().trim().min(1);
const answer = z.union([filled, z.number().transform(String)]);

/** Models write one answer without a list, and empty parts. */
const Draft = z.object({
  question: filled,
  answers: z.union([answer.transform((one) => [one]), z.array(answer)]).nullish(),
  checks: z.array(z.record(z.string(), z.unknown())).nullish(),
  criteria: z.array(filled).nullish(),
  why: z.string().nullish(),
});

/** A row for the task file, checked as the reader of the file will check it. */
function readDraft(value: unknown, taskType: string, hasJudge: boolean): ReadDraft {
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

/** A kind of task, and how many there should be in the end. Controls have no topic. */
export type Quota = { readonly taskType: string; readonly topic: Topic | undefined; readonly count: number };

const CONTROL_SHARE = 0.1;

export function quotasFor(topics: readonly Topic[], n: number): Quota[] {
  const controls = Math.round(n * CONTROL_SHARE);
  const shares = apportion(n - controls, new Array<number>(topics.length).fill(1));
  const own = topics.map((topic, place) => ({ taskType: topic.name, topic, count: shares[place]! }));
  return [...own, { taskType: CONTROL, topic: undefined, count: controls }].filter(({ count }) => count > 0);
}

/**
 * How many of each kind are missing, in all at most `room`. Tasks of other kinds take room too. If `isOpen`, all kinds
 * replace what some kinds could not give.
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

/** If the tasks of a file name their splits, each new one gets the split that lacks most. Otherwise the reader divides them. */
export function assignSplits(rows: readonly DraftRow[], existing: readonly TaskRow[]): DraftRow[] {
  if (!existing.some(({ split }) => typeof split === 'string')) return [...rows];
  const wanted = apportion(existing.length + rows.length, RATIO);
  const left = SPLITS.map((name, place) => wanted[place]! - existing.filter(({ split }) => split === name).length);
  return rows.map((row) => {
    const place = left.indexOf(Math.max(...left));
    left[place]! -= 1;
    return { ...row, split: SPLITS[place]! };
  });
}

type DrafterOptions = {
  readonly model: ChatModel;
  readonly config?: SkillOptConfigInput | undefined;
  readonly caches?: RunCaches | undefined;
  readonly observers?: readonly RunObserver[] | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** The model drafts, solves, and scores by criteria, with the cache, retries and limits of a run. */
export function openDrafter({ model, config, caches, observers = [], signal }: DrafterOptions) {
  const stop = createStop(signal);
  const { deps, takeUsage } = createRunDeps({
    ...{ config: parseConfig(config), target: model, optimizer: model, judge: model, caches, observers, stop },
    promptOverrides: {},
    onProgress: () => {},
    onWarning: (message) => notify(observers, 'onWarning', message),
  });
  return { stages: deps, takeUsage, [Symbol.dispose]: () => stop[Symbol.dispose]() };
}
