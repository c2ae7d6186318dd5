import { z } from 'zod';
import {
  dataSection,
  type Evaluation,
  HEADINGS,
  indexedLine,
  promptSection,
  skillSection,
} from '../../core/contracts/index.ts';
import type { Patch } from '../../core/document/index.ts';
import type { LrDecision } from '../../core/run/index.ts';
import { ask } from '../ask/ask.ts';
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
    if (value === undefined || value === null) return '';
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
const Reply = z.object({ learningRate: z.unknown(), reasoning: prose, confidence: prose, riskNotes: prose });

/** The optimizer decides how many of the proposed changes are made now. An answer that cannot be read means none. */
export async function decideLearningRate(input: LearningRateInput, deps: StageDeps): Promise<LrDecision> {
  const available = input.patch.edits.length;
  const user = writeQuestion(input);
  const question = { prompt: 'lr_autonomous', stage: 'lr_autonomous', user, schema: Reply } as const;
  const reply = available === 0 ? undefined : await deps.limit.run(() => ask(question, deps));
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

function writeQuestion({ skill, patch, evaluation, memory = noMemory }: LearningRateInput): string {
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

/** A whole number from what a model wrote: `2.5` is 2, `"about -3"` is 0, `[4]` is 4, and `true` is nothing. */
function readCount(value: unknown): number | undefined {
  if (typeof value === 'boolean' || value === undefined || value === null) return undefined;
  const digits = /-?\d+/.exec(String(value))?.[0];
  return digits === undefined ? undefined : Math.max(0, Number(digits));
}
