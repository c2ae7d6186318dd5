import type { ChatMessage, ChatModel } from '../../core/contracts/index.ts';
import type { Draw } from '../draw.ts';
import { decideRate } from '../optimizer/decide-rate.ts';
import { mergeEdits } from '../optimizer/merge-edits.ts';
import { rankEdits } from '../optimizer/rank-edits.ts';
import { type OptimizerPrompt, readPrompt } from '../optimizer/read-prompt.ts';
import { carryOutSuggestions, inMode } from '../optimizer/whole-version.ts';
import { createSimulatedModel, textOf } from '../simulated-model.ts';
import { type Evidence, type Proposal, propose, type Skillfulness } from './evidence.ts';
import { countThings, type Kind } from './kind.ts';
import { isMinerPrompt, mineSession } from './miner.ts';

/** What makes one optimizer differ from another: its dice, what it proposes, and how it mines. */
export type Proposer = {
  readonly id: string;
  readonly seed: number;
  /** `isContrast`: good and bad attempts stand side by side, where it is easier to see what made the difference. */
  propose(evidence: Evidence, draw: Draw, isContrast: boolean): readonly Proposal[];
  /** The reply to a miner's prompt. */
  mine(user: string, draw: Draw): object;
};

/** A model that answers every prompt of an optimizer in its own format, around what a proposer proposes. */
export function proposingModel({ id, seed, ...proposer }: Proposer): ChatModel {
  const answer = (messages: readonly ChatMessage[], draw: Draw): object => {
    const [system, user] = [textOf(messages, 'system'), textOf(messages, 'user')];
    if (isMinerPrompt(user)) return proposer.mine(user, draw);
    const prompt = readPrompt(messages);
    if (wantsArray(`${system}\n${user}`)) return toArray(proposer.propose(evidenceIn(prompt, user), draw, true));
    if (wantsRules(system)) return toRules(proposer.propose(evidenceIn(prompt, user), draw, true));
    if (prompt.assignment !== 'read-failures') return work[prompt.assignment](prompt);
    return toPatch(prompt, proposer.propose(evidenceIn(prompt, user), draw, isContrast(system)));
  };
  return createSimulatedModel({
    id,
    seed,
    latencyMs: 0,
    failureRate: 0,
    answer: ({ messages }, draw) => JSON.stringify(answer(messages, draw), null, 2),
  });
}

export type OptimizerOptions = Skillfulness & { readonly seed: number; readonly kinds: readonly Kind[] };

/** So much of the mistakes is gone when attempts are compared. */
const CONTRAST_GAIN = 0.4;

/** The model that mines a person's sessions and proposes edits. It reads its prompts and knows nothing else. */
export function personOptimizer({ seed, kinds, ...able }: OptimizerOptions): ChatModel {
  const { precision, harmfulRate, gullibility } = able;
  const sharper = { ...able, precision: 1 - (1 - precision) * (1 - CONTRAST_GAIN) };
  return proposingModel({
    id: `sim-person-optimizer/1 seed=${seed} things=${countThings(kinds)} precision=${precision} harmful=${harmfulRate} gullible=${gullibility}`,
    seed,
    propose: (evidence, draw, isContrast) => propose(evidence, kinds, isContrast ? sharper : able, draw),
    mine: (user, draw) => mineSession(user, { kinds, gullibility }, draw),
  });
}

/** Whether the reply is to be a list of edits with anchors; only contrasts of attempts ask for that. */
const wantsArray = (text: string) => /["'`]anchor["'`]|\bJSON array\b/.test(text);
/** Whether attempts at the same tasks are compared, and rules are wanted. */
const wantsRules = (system: string) => system.includes('{"rules"');
const isContrast = (system: string) => /contrast|side by side/i.test(system);

/** Where nothing is fenced as an attempt, the sections are. What earlier steps of the night tried counts as rejected, too. */
function evidenceIn({ skill, surroundings, limit, trajectories, steps }: OptimizerPrompt, user: string): Evidence {
  const attempts = trajectories.length > 0 ? trajectories : user.split(/\n(?=#{1,3} )/);
  const known = steps === '' ? surroundings : `${surroundings}\nrejected:\n${steps}`;
  return { attempts, skill, surroundings: known, limit };
}

const toArray = (proposals: readonly Proposal[]) =>
  proposals.map(({ content, why }) => ({ op: 'add', content, anchor: '', rationale: why }));

const toRules = (proposals: readonly Proposal[]) => ({
  rules: proposals.map(({ content, why }) => ({ content, rationale: why })),
});

const toEdit = ({ content, support }: Proposal) => {
  return { op: 'append' as const, target: '', content: `- ${content}`, support_count: support };
};

function toPatch({ skill, trajectories, mode, wantsReminders }: OptimizerPrompt, proposals: readonly Proposal[]) {
  return {
    batch_size: trajectories.length,
    failure_summary: proposals.map(({ why, support }) => {
      return { failure_type: why, count: support, description: why, task_ids: [] };
    }),
    patch: { reasoning: 'What the person wants again and again.', ...inMode(mode, skill, proposals.map(toEdit)) },
    ...(wantsReminders ? { appendix_notes: [] } : {}),
  };
}

type Work = (prompt: OptimizerPrompt) => object;

const work: Readonly<Record<Exclude<OptimizerPrompt['assignment'], 'read-failures'>, Work>> = {
  'read-successes': ({ trajectories, mode, skill }) => {
    const patch = { reasoning: 'Nothing to keep that is not kept.', ...inMode(mode, skill, []) };
    return { batch_size: trajectories.length, success_patterns: [], patch };
  },
  merge: mergeEdits,
  rank: rankEdits,
  'decide-rate': decideRate,
  rewrite: carryOutSuggestions,
  'write-guidance': ({ guidance }) => ({ reasoning: 'As before.', slow_update_content: guidance }),
  'write-notes': ({ notes }) => ({ reasoning: 'As before.', meta_skill_content: notes }),
  'shorten-reminders': ({ notes }) => ({ notes: notes.split('\n').filter((line) => line.trim() !== '') }),
};
