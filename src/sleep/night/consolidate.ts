import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { isOutOfBudget, parseConfig, type SkillOptConfigInput, skillSection } from '../../core/contracts/index.ts';
import { newPiecesOf } from '../../core/document/index.ts';
import type { RunStore } from '../../core/run/index.ts';
import { nextError } from '../../core/stats/index.ts';
import { head, oneLine } from '../../core/text/index.ts';
import { askForJson, createStop } from '../../pipeline/index.ts';
import { memoryRun } from '../../stores/index.ts';
import { wrapModels } from '../../train/index.ts';
import type { Documents } from '../replay/replay.ts';
import { type Trained, withLearned } from '../replay/sleep-env.ts';
import type { Proposal } from '../staging/proposal.ts';
import type { Tasks } from '../task-record.ts';
import { type ConsolidationResult, nothingVerified, toResult } from './consolidation-result.ts';
import { type DocumentNight, type NightInput, type NightModels, nightConfigOf, type StoreOf } from './cycle-input.ts';
import { nightBudget } from './night-limits.ts';
import { labelOf, planShots, type Shot, type ShotOptions, textsByHint, whyUnverified } from './shots.ts';
import { knowingReplies, type TrainedDocument, trainDocument } from './train-document.ts';

export type ConsolidateOptions = ShotOptions &
  Omit<
    Partial<DocumentNight>,
    'models' | 'tasks' | 'documents' | 'trained' | 'named' | 'skillTexts' | 'store' | 'error' | 'config' | 'notes'
  > & {
    readonly editBudget?: number | undefined;
    readonly gateMetric?: 'hard' | 'soft' | 'mixed' | undefined;
    readonly gateMixedWeight?: number | undefined;
    readonly night?: number | undefined;
    /** The night's share of the error, over all documents. Default: that of a first night. */
    readonly error?: number | undefined;
    readonly config?: SkillOptConfigInput | undefined;
    /** Where the run of a document is kept. Default: in memory. */
    readonly storeOf?: StoreOf | undefined;
    readonly notesOf?: ((trained: Trained, named: string) => readonly string[]) | undefined;
  };

/**
 * One night over given tasks: trains the skill and `others`, which have tasks of their own, then the memory beside what
 * became of them. The documents share the night's error. Only the learned block of a document changes.
 */
export async function consolidate(
  models: NightModels,
  tasks: Tasks,
  documents: Documents,
  options: ConsolidateOptions = {},
): Promise<ConsolidationResult> {
  const { others = [], gateMode = 'on' } = options;
  const { shots, untrained } = planShots(tasks, options);
  const why = untrained[0] ?? whyUnverified(tasks, options);
  if (shots.length === 0 && why !== undefined)
    return nothingVerified(documents, why, others.length > 0 ? untrained : []);
  const { trained, texts, now, note } = await trainAll(shots, { models, documents, options });
  const all = [...tasks, ...others.flatMap(({ tasks: own }) => own)];
  const result = toResult({ before: documents, after: now, documents: trained, tasks: all, gateMode });
  const notes = [...trained.flatMap(cutNote), ...note];
  return { ...result, notes, ...(others.length > 0 ? { newSkills: Object.fromEntries(texts), untrained } : {}) };
}

type Training = { readonly models: NightModels; readonly documents: Documents; readonly options: ConsolidateOptions };

/** One document after the other. Each reads the texts that the earlier ones came to, and gets an even share of the error that is left. */
async function trainAll(shots: readonly Shot[], { models, documents, options }: Training) {
  const { others = [], gateMode = 'on', error: errorOfNight = nextError([]) } = options;
  const budget = options.budget ?? nightBudget(options.config ?? {});
  const trained: TrainedDocument[] = [];
  const stores: RunStore[] = [];
  const texts = new Map(others.map(({ name, text }) => [name, text]));
  let now = documents;
  let left = gateMode === 'off' ? undefined : errorOfNight;
  for (const [place, shot] of shots.entries()) {
    const error = left === undefined ? undefined : left / (shots.length - place);
    const read = { ...now, skill: texts.get(shot.named) ?? now.skill };
    const night = { ...nightOf(models, shot, options), budget, documents: read, error };
    const skillTexts = shot.trained === 'memory' && others.length > 0 ? textsByHint(others, texts) : undefined;
    const store = knowingReplies(night.store, stores);
    const done = await trainDocument({ ...night, store, skillTexts }).catch((problem) => {
      if (place > 0 && isOutOfBudget(problem)) return problem; // the documents before it are a result
      throw problem;
    });
    if (done instanceof Error)
      return { trained, texts, now, note: [`The ${labelOf(shot)} was not tried: ${done.message}.`] };
    if (done.isTaken && shot.named !== '') texts.set(shot.named, withLearned(read, 'skill', done.block).skill);
    else if (done.isTaken) now = withLearned(now, shot.trained, done.block);
    if (left !== undefined && done.proof) left -= error!;
    trained.push(done);
    stores.push(night.store);
  }
  return { trained, texts, now, note: [] };
}

function nightOf(models: NightModels, { trained, named, tasks }: Shot, options: ConsolidateOptions) {
  const { editBudget = 4, gateMetric = 'mixed', gateMixedWeight = 0.5, storeOf = () => memoryRun(), notesOf } = options;
  const config = {
    editBudget: Math.max(1, editBudget),
    minEditBudget: Math.min(2, Math.max(1, editBudget)),
    ...{ gateMetric, gateMixedWeight, ...options.config },
  };
  const own = { store: storeOf(trained, named), notes: notesOf?.(trained, named) ?? [] };
  return { ...options, models, tasks, trained, named, config, ...own };
}

const cutNote = (document: TrainedDocument) =>
  document.cut === undefined
    ? []
    : [`A limit of the night has ended the work at the ${labelOf(document)} early: ${document.cut}.`];

type CriticInput = NightInput & { readonly storeOf: StoreOf };

/**
 * The result with what a model says about each block that is proposed: one call a block. It can only add marks to those of the
 * rules, since a model may have been misled by the same texts. The judge is asked, or the target if the
 * judge is the optimizer, which wrote the block.
 */
export async function criticised(result: ConsolidationResult, input: CriticInput): Promise<ConsolidationResult> {
  if (input.handoff) return result; // another round for the person, who reads the lines anyway
  const documents: TrainedDocument[] = [];
  const notes: string[] = [];
  for (const document of result.documents) {
    const concerns = document.isTaken ? await concernsAbout(document, input).catch(whyNone(input.signal)) : [];
    if (typeof concerns === 'string') notes.push(`No critic has read the ${labelOf(document)}: ${concerns}.`);
    documents.push(typeof concerns === 'string' ? document : { ...document, concerns });
  }
  return { ...result, documents, notes: [...result.notes, ...notes] };
}

const whyNone = (signal: AbortSignal | undefined) => (error: Error) => {
  signal?.throwIfAborted();
  return isOutOfBudget(error) ? 'a limit of the night was reached' : error.message;
};

let criticPrompt: string | undefined;
const CriticReply = z.object({ warnings: z.array(z.object({ number: z.number(), reason: z.string() })) });
const MOST_CHARACTERS = 80;

async function concernsAbout(
  { trained, named, baseBlock, block }: TrainedDocument,
  { models, budget, signal, storeOf, ...input }: CriticInput,
): Promise<Proposal['concerns'] | string> {
  criticPrompt ??= readFileSync(new URL('./prompts/critic.md', import.meta.url), 'utf8');
  const lines = newPiecesOf(baseBlock, block);
  const numbered = lines.map((line, at) => `${at + 1}. ${line}`).join('\n');
  const config = parseConfig(nightConfigOf(input));
  await using open = await storeOf(trained, named).open();
  using stop = createStop(signal);
  const wrapped = wrapModels({ ...models, config, caches: open.caches, observers: [], stop, shared: budget });
  const asked = {
    system: criticPrompt,
    user: skillSection(numbered),
    stage: 'critic',
    schema: CriticReply,
    maxOutputTokens: 1_024,
  };
  const isOtherJudge = models.judge !== undefined && models.judge.id !== models.optimizer.id;
  const reply = await askForJson(asked, { model: (isOtherJudge && wrapped.judge) || wrapped.target, stop });
  if (reply === undefined) return 'its answer could not be read';
  return reply.warnings.flatMap(({ number, reason }) => {
    const line = lines[number - 1];
    return line === undefined ? [] : [{ line, reason: `critic: ${head(oneLine(reason), MOST_CHARACTERS)}` }];
  });
}
