import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { isOutOfBudget, parseConfig, skillSection } from '../../core/contracts/index.ts';
import { newPiecesOf } from '../../core/document/index.ts';
import { head, oneLine } from '../../core/text/index.ts';
import { askForJson, createStop } from '../../pipeline/index.ts';
import { wrapModels } from '../../train/index.ts';
import type { Proposal } from '../staging/proposal.ts';
import type { ConsolidationResult } from './consolidation-result.ts';
import { type NightInput, nightConfigOf, type StoreOf } from './cycle-input.ts';
import { labelOf } from './shots.ts';
import type { TrainedDocument } from './train-document.ts';

const Reply = z.object({ warnings: z.array(z.object({ number: z.number(), reason: z.string() })) });
const MOST_CHARACTERS = 80;

/**
 * The result with what a model says about each block that is proposed: one call a block. It can only add marks to those of the
 * rules, since a model may have been misled by the same texts. The judge is asked, or the target if the
 * judge is the optimizer, which wrote the block.
 */
export async function criticised(
  result: ConsolidationResult,
  input: NightInput & { readonly storeOf: StoreOf },
): Promise<ConsolidationResult> {
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

let prompt: string | undefined;

async function concernsAbout(
  { trained, named, baseBlock, block }: TrainedDocument,
  { models, budget, signal, storeOf, ...input }: NightInput & { readonly storeOf: StoreOf },
): Promise<Proposal['concerns'] | string> {
  prompt ??= readFileSync(new URL('./prompts/critic.md', import.meta.url), 'utf8');
  const lines = newPiecesOf(baseBlock, block);
  const numbered = lines.map((line, at) => `${at + 1}. ${line}`).join('\n');
  const config = parseConfig(nightConfigOf(input));
  await using open = await storeOf(trained, named).open();
  using stop = createStop(signal);
  const wrapped = wrapModels({ ...models, config, caches: open.caches, observers: [], stop, shared: budget });
  const asked = {
    system: prompt,
    user: skillSection(numbered),
    stage: 'critic',
    schema: Reply,
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
