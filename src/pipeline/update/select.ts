import { z } from 'zod';
import {
  dataSection,
  type Evaluation,
  HEADINGS,
  indexedLine,
  promptSection,
  skillSection,
} from '../../core/contracts/index.ts';
import { type Patch, type UpdateItem, type UpdateMode, withinBudget } from '../../core/document/index.ts';
import type { LrDecision } from '../../core/run/index.ts';
import { askInSlot } from '../ask/ask.ts';
import { modePrompt } from '../ask/prompts.ts';
import { type Memory, metaSections, noMemory, stepSections } from '../epoch/memory.ts';
import type { StageDeps } from '../stage-deps.ts';
import { toWireItem } from './wire-patch.ts';

type LearningRateInput = {
  readonly skill: string;
  readonly patch: Patch;
  readonly evaluation: Evaluation;
  readonly memory?: Memory;
};

const prose = z
  .unknown()
  .optional()
  .transform((value) => {
    const said = value ?? '';
    return typeof said === 'string' ? said : JSON.stringify(said);
  });
const LearningRateReply = z.object({
  learningRate: z.unknown(),
  reasoning: prose,
  confidence: prose,
  riskNotes: prose,
});

/** The optimizer decides how many of the proposed changes are made now. An answer that cannot be read means none. */
export async function decideLearningRate(input: LearningRateInput, deps: StageDeps): Promise<LrDecision> {
  const available = input.patch.edits.length;
  const user = askHowMany(input);
  const question = { prompt: 'lr_autonomous', stage: 'lr_autonomous', user, schema: LearningRateReply } as const;
  const reply = available === 0 ? undefined : await askInSlot(question, deps);
  const raw = readCount(reply?.learningRate);
  const { reasoning = '', confidence = '', riskNotes = '' } = reply ?? {};
  return {
    learningRate: Math.min(raw ?? 0, available),
    rawLearningRate: raw ?? null,
    availableUpdateItems: available,
    isClamped: raw !== undefined && raw > available,
    isFallback: raw === undefined && available > 0,
    reasoning,
    confidence,
    riskNotes,
  };
}

function askHowMany({ skill, patch, evaluation, memory = noMemory }: LearningRateInput): string {
  const { hard, soft, scores } = evaluation;
  const score = `${scores.length} tasks attempted: hard ${hard.toFixed(4)}, soft ${soft.toFixed(4)}`;
  const items = patch.edits.map((edit, index) => indexedLine(index, toWireItem(edit)));
  return [
    skillSection(skill),
    ...metaSections(memory),
    ...stepSections(memory),
    promptSection(HEADINGS.batchScore, score),
    dataSection(HEADINGS.proposedChanges, 'items', items.join('\n'), `${items.length}`),
  ].join('\n\n');
}

/** A whole number from what a model wrote: `2.5` is 2, `"about -3"` is 0, `[4]` is 4, and `true` is none. */
function readCount(value: unknown): number | undefined {
  if (typeof value === 'boolean' || value === undefined || value === null) return undefined;
  const digits = /-?\d+/.exec(String(value))?.[0];
  return digits === undefined ? undefined : Math.max(0, Number(digits));
}

type SelectInput = Omit<LearningRateInput, 'evaluation'> & {
  /** `null`: nothing is left out. */
  readonly editBudget: number | null;
  readonly mode?: UpdateMode;
};

const RankingReply = z.object({ reasoning: z.string().nullish(), selectedIndices: z.array(z.int().catch(-1)) });

/** ④ Clip: keeps the most important changes within `editBudget`. If all fit, nothing is asked. */
export async function rankAndSelect(input: SelectInput, deps: StageDeps): Promise<Patch> {
  const { patch, editBudget, mode = 'patch' } = input;
  if (editBudget === null || withinBudget(patch.edits, editBudget).length === patch.edits.length) return patch;
  if (editBudget <= 0) return { ...patch, edits: [] };
  const user = askForOrder(input);
  const question = { prompt: modePrompt('ranking', mode), stage: 'ranking', user, schema: RankingReply } as const;
  const ranking = await askInSlot(question, deps);
  const indices = new Set(ranking?.selectedIndices.filter((index) => patch.edits[index] !== undefined));
  const ranked = [...indices].map((index) => ({ index, file: patch.edits[index]!.file }));
  const chosen = withinBudget(ranked, editBudget).map(({ index }) => index);
  if (chosen.length === 0) return fallback(patch, editBudget);
  const rankingDetails = { selectedIndices: chosen, reasoning: ranking?.reasoning ?? '' };
  return { ...patch, edits: chosen.map((index) => patch.edits[index]!), rankingDetails };
}

function askForOrder({ skill, patch, editBudget, mode = 'patch', memory = noMemory }: SelectInput): string {
  const kind = mode === 'patch' ? 'edits' : 'suggestions';
  const list = patch.edits.map((edit, index) => indexedLine(index, toWireItem(withoutLevel(edit))));
  return [
    skillSection(skill),
    ...metaSections(memory),
    dataSection(HEADINGS[kind], kind, list.join('\n'), `${patch.edits.length}, keep at most ${editBudget}`),
  ].join('\n\n');
}

/** The level of its merge says nothing about the worth of an edit. */
const withoutLevel = ({ mergeLevel: _mergeLevel, ...edit }: UpdateItem): UpdateItem => edit;

/** Without a ranking: failures first, then by support; equals keep their order. */
function fallback(patch: Patch, editBudget: number): Patch {
  const order = [...patch.edits].sort((a, b) => rank(a) - rank(b) || (b.supportCount ?? 0) - (a.supportCount ?? 0));
  const rankingDetails = { fallback: 'failure first, then support' };
  return { ...patch, edits: withinBudget(order, editBudget), rankingDetails };
}

const rank = (edit: UpdateItem) => (edit.sourceType === 'success' ? 1 : 0);
