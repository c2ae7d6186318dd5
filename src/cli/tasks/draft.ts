import { dirname, join } from 'node:path';
import { inlineFiles, readSkill } from '../../app/index.ts';
import { type ChatModel, SkillError } from '../../core/contracts/index.ts';
import { type Cost, costWords, totalCost } from '../../core/run/index.ts';
import { rubricJudge } from '../../judges/index.ts';
import { type LoadedProject, type ModelSpec, resolveModel, resolvePath } from '../../project/index.ts';
import { readSkillFiles } from '../../skills/index.ts';
import { openCaches, shownPath } from '../../stores/index.ts';
import {
  appendRows,
  assignSplits,
  type DraftInput,
  type DraftResult,
  type DraftRow,
  draftTasks,
  droppedPath,
  openDrafter,
  questionOf,
  readTaskLines,
  type TaskRow,
} from '../../tasks/index.ts';
import { interruptible } from '../interrupt.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { isAgreed, type Place } from './agree-to-draft.ts';
import { type DraftAnswer, draftLines } from './draft-lines.ts';
import { projectOf, tasksPath } from './project-of.ts';

export type DraftFlags = {
  readonly config?: string;
  readonly skill?: string;
  readonly n: number;
  readonly out?: string;
  readonly model?: string;
  readonly maxCalls?: number;
  readonly maxCostUsd?: number;
  readonly quiet?: boolean;
  readonly yes?: boolean;
};

/** Drafts what is missing in the file of tasks. What is there stays as it is, and what is good is written at once. */
export async function draft(flags: DraftFlags, terminal: Terminal): Promise<void> {
  const { config, maxCalls, maxCostUsd } = flags;
  const loaded = await projectOf({ config, maxCalls, maxCostUsd }, terminal);
  const out = tasksPath(flags.out, loaded, terminal);
  const shown = shownPath(out, terminal.io.cwd());
  const rows = await rowsIn(out, shown);
  const input = await readInput(
    flags,
    loaded,
    { rows, refused: (await rowsIn(droppedPath(out), shown)).map(questionOf) },
    terminal,
  );
  const spec = flags.model ?? loaded?.project.optimizer;
  const model = await drafterOf(spec, loaded, terminal);
  const name = model.modelName ?? (typeof spec === 'string' ? spec : model.id);
  const place = { out, shown, loaded, model, name, reading: input.reading };
  const missing = flags.n - rows.length;
  if (missing > 0 && !(await isAgreed(flags, missing, place, terminal))) return;
  const work = await drafted(input, { ...place, flags }, terminal);
  const answer = answerOf(work, { rows: await rowsIn(out, shown), shown, n: flags.n, loaded });
  terminal.answer(answer, draftLines(answer, work.failure === undefined, terminal));
  if (work.failure !== undefined) throw work.failure;
}

const rowsIn = async (path: string, shown: string): Promise<TaskRow[]> =>
  (await readTaskLines(path, shown)).flatMap(({ row }) => (row === undefined ? [] : [row]));

type Known = Pick<DraftInput, 'rows' | 'refused'>;

async function readInput(
  { skill: typed, n }: DraftFlags,
  loaded: LoadedProject | undefined,
  known: Known,
  { io }: Terminal,
): Promise<DraftInput> {
  const path = typed === undefined ? loaded?.project.skill : resolvePath(io.cwd(), typed);
  if (path === undefined) {
    const hint = 'Name a folder with a SKILL.md, or a document: skillopt tasks draft --skill PATH';
    throw new SkillError('USAGE', 'no skill is named, and tasks are drafted from one', { hint });
  }
  const document = await readSkill(path);
  const { files } = await readSkillFiles(document);
  const reading = files.length === 0 ? document.text : document.text + inlineFiles(files);
  const { scoring, judge } = loaded?.project ?? {};
  const scorers = [rubricJudge()] as unknown as NonNullable<DraftInput['scorers']>;
  return { skill: document.text, files, reading, hasJudge: judge !== undefined, scoring, scorers, n, ...known };
}

function drafterOf(
  spec: ModelSpec | undefined,
  loaded: LoadedProject | undefined,
  terminal: Terminal,
): Promise<ChatModel> {
  if (spec === undefined) {
    const hint =
      'Name one: --model openai:MODEL (or anthropic:MODEL, compatible:MODEL@URL …), or optimizer: in the project file.';
    throw new SkillError('USAGE', 'no model is named that could draft tasks', { hint });
  }
  const directory = loaded?.directory ?? terminal.io.cwd();
  return resolveModel(spec, { role: 'optimizer', env: terminal.io.env, directory, notices: terminal });
}

type Work = {
  readonly kept: readonly DraftRow[];
  readonly result: DraftResult | undefined;
  readonly cost: Cost;
  /** Why it was over before it was done. */
  readonly failure: unknown;
};

async function drafted(
  input: DraftInput,
  { out, loaded, model, flags }: Place & { readonly flags: DraftFlags },
  terminal: Terminal,
): Promise<Work> {
  const {
    workers,
    maxRetries,
    callTimeoutMs,
    prices,
    maxCalls = flags.maxCalls,
    maxCostUsd = flags.maxCostUsd,
  } = loaded?.project ?? {};
  const given = { workers, maxRetries, callTimeoutMs, prices, maxCalls, maxCostUsd };
  const config = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const caches = await openCaches(join(loaded?.directory ?? dirname(out), 'runs', '.draft'));
  const kept: DraftRow[] = [];
  const keep = async (rows: readonly DraftRow[]) => {
    await appendRows(out, assignSplits(rows, await rowsIn(out, out)));
    kept.push(...rows);
  };
  const observers = [{ onWarning: terminal.warn }];
  const say = flags.quiet ? () => {} : terminal.say;
  try {
    return await interruptible({ io: terminal.io, onStop: terminal.say }, async (signal) => {
      using drafter = openDrafter({ model, config, caches, observers, signal });
      const onProgress = progressSayer(say);
      const [result, failure] = await draftTasks(input, { stages: drafter.stages, keep, onProgress }).then(
        (done) => [done, undefined] as const,
        (error: unknown) => [undefined, error] as const,
      );
      const { usage = {} } = drafter.takeUsage();
      return { kept, result, failure, cost: totalCost({ usage, isDone: true }) };
    });
  } finally {
    caches.close();
  }
}

/** A line whenever something else is done, or more is kept. */
function progressSayer(say: (line: string) => void): NonNullable<Parameters<typeof draftTasks>[1]['onProgress']> {
  let last = '';
  return ({ doing, kept, wanted }) => {
    const line = doing === 'reading the skill' ? doing : `${doing}: ${kept} of ${wanted} kept`;
    if (line !== last) say(line);
    last = line;
  };
}

function answerOf(
  { kept, result, cost }: Work,
  {
    rows,
    shown,
    n,
    loaded,
  }: {
    readonly rows: readonly TaskRow[];
    readonly shown: string;
    readonly n: number;
    readonly loaded: LoadedProject | undefined;
  },
): DraftAnswer {
  const types = rows.map(({ taskType }) => (typeof taskType === 'string' ? taskType : ''));
  const kinds = Object.fromEntries(
    [...new Set(types)].map((type) => [type, types.filter((one) => one === type).length]),
  );
  const dropped = { repeated: 0, contradicted: 0, doubtful: 0, 'not usable': 0 };
  for (const { why } of result?.dropped ?? []) dropped[why] += 1;
  const doubtful = kept.filter((row) => row.doubtful).length;
  const { calls, tokens, costUsd, isPriced } = cost;
  return {
    ...{ file: shown, drafted: kept.length, tasks: rows.length, wanted: n, kinds, dropped, doubtful },
    ...{
      calls,
      tokens,
      costUsd: isPriced ? costUsd : null,
      costWords: costWords(cost),
      isProject: loaded !== undefined,
    },
  };
}
