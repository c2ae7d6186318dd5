import type { ChatMessage, ChatModel } from '../../core/contracts/index.ts';
import { groupBy } from '../../core/text/index.ts';
import { type Draw, pick } from '../draw.ts';
import { carryOutSuggestions, inMode, mergeEdits } from '../optimizer/edits.ts';
import { decideRate, rankEdits } from '../optimizer/propose-changes.ts';
import { type OptimizerPrompt, readPrompt } from '../optimizer/read-prompt.ts';
import { createSimulatedModel, textOf } from '../simulated-model.ts';
import { countThings, HARMS, type Kind, kindIn, REMARKS, readAdvice, rubricOf, type Thing } from './kind.ts';
import { poisonsIn } from './session.ts';

/** The dice of an optimizer, what it proposes, and how it mines. */
type Proposer = {
  readonly id: string;
  readonly seed: number;
  /** `isContrast`: good and bad attempts stand side by side, where differences are easier to see. */
  propose(evidence: Evidence, draw: Draw, isContrast: boolean): readonly Proposal[];
  mine(user: string, draw: Draw): object;
};

/** Answers every prompt of an optimizer in its format, with what a proposer proposes. */
export function proposingModel({ id, seed, ...proposer }: Proposer): ChatModel {
  const answer = (messages: readonly ChatMessage[], draw: Draw): object => {
    const [system, user] = [textOf(messages, 'system'), textOf(messages, 'user')];
    if (REQUESTS.test(user)) return proposer.mine(user, draw);
    const prompt = readPrompt(messages);
    if (wantsArray(`${system}\n${user}`)) return toArray(proposer.propose(evidenceIn(prompt, user), draw, true));
    if (wantsRules(system)) return toRules(proposer.propose(evidenceIn(prompt, user), draw, true));
    if (prompt.assignment !== 'read-failures') return work[prompt.assignment](prompt);
    return toPatch(prompt, proposer.propose(evidenceIn(prompt, user), draw, isContrast(system)));
  };
  return createSimulatedModel({
    id,
    seed,
    answer: ({ messages }, draw) => JSON.stringify(answer(messages, draw), null, 2),
  });
}

type OptimizerOptions = Skillfulness & { readonly seed: number; readonly kinds: readonly Kind[] };

/** The share of mistakes that are avoided when attempts are compared. */
const CONTRAST_GAIN = 0.4;

/** Mines a person's sessions and proposes edits. It reads its prompts and knows nothing else. */
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

/** Only contrasts of attempts ask for a list of edits with anchors. */
const wantsArray = (text: string) => /["'`]anchor["'`]|\bJSON array\b/.test(text);
const wantsRules = (system: string) => system.includes('{"rules"');
const isContrast = (system: string) => /contrast|side by side/i.test(system);

/** Without fenced attempts, the sections are attempts. What earlier steps tried counts as rejected. */
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

/** Chances per proposal: of the right rule, of harmful advice (the rest changes nothing), and of a poisoned text being taken for a wish. */
type Skillfulness = { readonly precision: number; readonly harmfulRate: number; readonly gullibility: number };

type Evidence = {
  readonly attempts: readonly string[];
  readonly skill: string;
  /** The rest of the document, rejected edits, preferences. */
  readonly surroundings: string;
  readonly limit: number;
};

type Proposal = { readonly content: string; readonly support: number; readonly why: string };

/** What failed most often comes first. All mistakes come from `draw`. */
function propose(evidence: Evidence, kinds: readonly Kind[], able: Skillfulness, draw: Draw): Proposal[] {
  const { attempts, limit } = evidence;
  const { stated, tried } = readKnown(evidence, kinds);
  const missed = attempts.flatMap((text) => missedIn(text, kinds)).filter(({ name }) => !stated.has(name));
  const groups = groupBy(missed, ({ name }) => name).sort((a, b) => b.length - a.length);
  const rules = groups.map(([thing, ...others]) => {
    const drawFor: Draw = (label) => draw(`${thing!.name}: ${label}`);
    return { content: wordingFor(thing!, tried, able, drawFor), support: 1 + others.length, why: thing!.lack };
  });
  const poisons = new Set(attempts.flatMap(poisonsIn));
  const fallenFor = [...poisons].filter(({ name }) => draw(`falls for ${name}`) < able.gullibility);
  const wishes = fallenFor.map(({ rule }) => ({ content: rule, support: 1, why: 'the texts ask for it' }));
  return [...wishes, ...rules].slice(0, limit);
}

/** From the first mention of a rejection on, the surroundings tell what was tried. */
function readKnown({ skill, surroundings }: Evidence, kinds: readonly Kind[]) {
  const at = surroundings.search(/reject/i);
  const around = at === -1 ? surroundings : surroundings.slice(0, at);
  const things = kinds.flatMap((kind) => kind.things);
  const { stated } = readAdvice(`${skill}\n${around}`, things);
  return { stated, tried: at === -1 ? '' : surroundings.slice(at) };
}

/** By the judge's words and by the answers. An attempt that shows neither may lack anything. */
function missedIn(text: string, kinds: readonly Kind[]): readonly Thing[] {
  const isLacking = ({ lack, missed }: Thing) => text.includes(lack) || text.includes(missed);
  const named = kinds.flatMap(({ things }) => things).filter(isLacking);
  if (named.length > 0) return named;
  const things = kindIn(text, kinds)?.things ?? [];
  return things.filter(({ kept }) => !text.includes(kept));
}

function wordingFor(thing: Thing, tried: string, able: Skillfulness, draw: Draw): string {
  const fresh = (texts: readonly string[]) => texts.filter((text) => !tried.includes(text));
  const choose = (texts: readonly string[], label: string) =>
    pick(draw, label, fresh(texts).length > 0 ? fresh(texts) : texts);
  const roll = draw('roll');
  if (roll < able.precision) return choose(thing.rules, 'wording');
  return roll < able.precision + able.harmfulRate ? choose(HARMS, 'harm') : choose(REMARKS, 'remark');
}

const REQUESTS = /<requests-([0-9a-f]{8})>\n?([\s\S]*?)\n?<\/requests-\1>/;
const FEEDBACK = /<feedback-([0-9a-f]{8})>\n?([\s\S]*?)\n?<\/feedback-\1>/;

const GUESS_RATE = 0.7;

type MinerOptions = Pick<Skillfulness, 'gullibility'> & { readonly kinds: readonly Kind[] };

/** The first request as a task, with a rubric of complaints and guesses. */
function mineSession(user: string, { kinds, gullibility }: MinerOptions, draw: Draw): object {
  const requests = user.match(REQUESTS)?.[2] ?? '';
  const kind = kindIn(requests, kinds);
  if (!kind) return { tasks: [] };
  const isKnown = (thing: Thing) => requests.includes(thing.complaint) || draw(`guesses ${thing.name}`) < GUESS_RATE;
  const wanted = kind.things.filter(isKnown);
  const fallenFor = poisonsIn(requests).filter(({ name }) => draw(`falls for ${name}`) < gullibility);
  if (wanted.length + fallenFor.length === 0) return { tasks: [] };
  const intent = (requests.split('\n')[0] ?? '').replace(/^1\. /, '');
  const rubric = [rubricOf(wanted), ...fallenFor.map(({ rule }) => rule)].join(' ');
  return { tasks: [{ intent, rubric, checks: [], satisfied: satisfiedBy(user.match(FEEDBACK)?.[2] ?? '') }] };
}

function satisfiedBy(feedback: string): boolean | null {
  const last = feedback.trim().split('\n').at(-1) ?? '';
  if (last.startsWith('pos:')) return true;
  return last.startsWith('neg:') ? false : null;
}
