import { dirname, join } from 'node:path';
import { type ChatModel, type RunCaches, SkillError, type SkillOptConfigInput } from '../core/contracts/index.ts';
import { type Cost, type RunObserver, totalCost } from '../core/run/index.ts';
import { rubricJudge } from '../judges/index.ts';
import { costUsd, countTokens } from '../models/index.ts';
import { type Caller, isTyped, type LoadedProject, resolveModel } from '../project/index.ts';
import { readSkillFiles } from '../skills/index.ts';
import { openCaches } from '../stores/index.ts';
import {
  appendRows,
  assignSplits,
  type DraftInput,
  type DraftResult,
  type DraftRow,
  draftTasks,
  droppedPath,
  estimateDrafting,
  MOST_ROUNDS,
  openDrafter,
  questionOf,
  readTaskLines,
  type TaskRow,
} from '../tasks/index.ts';
import { priceFor } from '../train/index.ts';
import { configOf, inlineFiles, readSkill } from './wire-run.ts';

type DraftOptions = {
  /** Without a project, a skill and a model have to be named. */
  readonly loaded: LoadedProject | undefined;
  /** The file of tasks, absolute. Drafts are added to it. */
  readonly out: string;
  /** The name of that file in messages. */
  readonly shown: string;
  /** How many tasks the file should have in the end. */
  readonly count: number;
  /** An absolute path; without it, the skill of the project. */
  readonly skill?: string | undefined;
  /** Without it, the optimizer of the project. */
  readonly model?: string | undefined;
  /** Limits where there is no project. */
  readonly limits?: Pick<SkillOptConfigInput, 'maxCalls' | 'maxTotalTokens' | 'maxCostUsd' | 'maxMinutes'>;
  readonly cwd: string;
  readonly caller: Caller;
};

type Watching = {
  readonly signal: AbortSignal;
  readonly observers: readonly RunObserver[];
  readonly onProgress: NonNullable<Parameters<typeof draftTasks>[1]['onProgress']>;
};

export type DraftedTasks = {
  readonly kept: readonly DraftRow[];
  readonly rows: readonly TaskRow[];
  readonly result: DraftResult | undefined;
  readonly cost: Cost;
  readonly failure: unknown;
};

export type OpenDraft = {
  readonly model: string;
  readonly missing: number;
  /** Calls, tokens, and dollars if the price of the model is known. Makes no call. */
  estimate(): Promise<ReturnType<typeof estimateDrafting> & { readonly usd: number | undefined }>;
  /** Drafts the missing tasks. Existing rows stay as they are, and each good draft is written at once. */
  draft(watching: Watching): Promise<DraftedTasks>;
};

/** Reads the skill and the file of tasks, and finds the model that drafts. */
export async function openDraft(options: DraftOptions): Promise<OpenDraft> {
  const { loaded, out, shown, count, cwd, caller } = options;
  const rows = await rowsIn(out, shown);
  const refused = (await rowsIn(droppedPath(out), shown)).map(questionOf);
  const input = { ...(await readInput(options)), n: count, rows, refused };
  const spec = options.model ?? loaded?.project.optimizer;
  if (spec === undefined) {
    const hint =
      'Name one, such as openai:MODEL (or anthropic:MODEL, compatible:MODEL@URL …), or optimizer: in the project file.';
    throw new SkillError('USAGE', 'no model is named that could draft tasks', { hint });
  }
  const directory = loaded?.directory ?? cwd;
  const isSpecOwn = options.model !== undefined || (loaded !== undefined && (await isTyped('optimizer', loaded)));
  const model = await resolveModel(spec, { role: 'optimizer', directory, ...caller, isSpecOwn });
  const missing = count - rows.length;
  return {
    model: model.modelName ?? (typeof spec === 'string' ? spec : model.id),
    missing,
    async estimate() {
      const found = estimateDrafting(missing, await countTokens(input.reading));
      const price = priceFor(model, loaded?.project.prices ?? {});
      return { ...found, usd: price && costUsd({ ...found.likely, cached: 0 }, price) };
    },
    draft: (watching) => draft(input, model, options, watching),
  };
}

const rowsIn = async (path: string, shown: string): Promise<TaskRow[]> =>
  (await readTaskLines(path, shown)).flatMap(({ row }) => (row === undefined ? [] : [row]));

async function readInput({ skill, loaded }: DraftOptions): Promise<Omit<DraftInput, 'n' | 'rows' | 'refused'>> {
  const path = skill ?? loaded?.project.skill;
  if (path === undefined) {
    const hint = 'Name a folder with a SKILL.md, or a document.';
    throw new SkillError('USAGE', 'no skill is named, and tasks are drafted from one', { hint });
  }
  const document = await readSkill(path);
  const { files } = await readSkillFiles(document);
  const reading = files.length === 0 ? document.text : document.text + inlineFiles(files);
  const { scoring, judge } = loaded?.project ?? {};
  const scorers = [rubricJudge()] as unknown as NonNullable<DraftInput['scorers']>;
  return { skill: document.text, files, reading, hasJudge: judge !== undefined, scoring, scorers };
}

async function draft(input: DraftInput, model: ChatModel, options: DraftOptions, watching: Watching) {
  const { loaded, out, limits } = options;
  const { signal, observers, onProgress } = watching;
  const config = configOf({ ...limits, ...loaded?.project });
  const caches = await openCaches(join(loaded?.directory ?? dirname(out), 'runs', '.draft'));
  const kept: DraftRow[] = [];
  const keep = async (rows: readonly DraftRow[]) => {
    await appendRows(out, assignSplits(rows, await rowsIn(out, out)));
    kept.push(...rows);
  };
  try {
    using drafter = openDrafter({ model, config, caches, observers, signal });
    const rounds = await openRounds(out, caches.replies);
    const asked = { ...input, firstRound: rounds.first };
    const [result, failure] = await draftTasks(asked, { stages: drafter.stages, keep, onProgress }).then(
      (done) => [done, undefined] as const,
      (error: unknown) => [undefined, error] as const,
    );
    const { usage = {} } = drafter.takeUsage();
    const rows = await rowsIn(out, out);
    if (result && rows.length < input.n) await rounds.end();
    return { kept, rows, result, failure, cost: totalCost(usage) };
  } finally {
    caches.close();
  }
}

/**
 * Which rounds earlier commands have drafted for a file. A command that was stopped is resumed: its replies are in the cache.
 * After one that found too few, the same replies would be dropped for the same reasons, so that the next one asks for others.
 */
async function openRounds(out: string, replies: RunCaches['replies']) {
  const key = (round: number) => `rounds from ${round} of ${out}`;
  let first = 0;
  while ((await replies.get(key(first))) !== undefined) first += MOST_ROUNDS;
  return { first, end: () => replies.set(key(first), 'over') };
}
