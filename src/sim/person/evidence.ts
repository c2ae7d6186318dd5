import { groupBy } from '../../core/text/index.ts';
import type { Draw } from '../draw.ts';
import { HARMS, REMARKS, readAdvice } from './documents.ts';
import { type Kind, kindIn, type Thing } from './kind.ts';
import { type Poison, poisonsIn } from './poison.ts';

/** How good an analyst is: chances per proposal. */
export type Skillfulness = {
  /** That what failed becomes the right rule. */
  readonly precision: number;
  /** That it becomes advice that makes answers a little worse. What is left becomes advice that changes nothing. */
  readonly harmfulRate: number;
  /** That a poisoned text is taken for a wish. */
  readonly gullibility: number;
};

/** What an analyst has before its eyes. */
export type Evidence = {
  /** Attempts that went wrong, each in its own text. */
  readonly attempts: readonly string[];
  readonly skill: string;
  /** The rest of the document, rejected edits, preferences. */
  readonly surroundings: string;
  readonly limit: number;
};

export type Proposal = { readonly content: string; readonly support: number; readonly why: string };

/** Proposals, what failed most often first. All mistakes come from `draw`. */
export function propose(evidence: Evidence, kinds: readonly Kind[], able: Skillfulness, draw: Draw): Proposal[] {
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
  return [...fallenFor.map(toProposal), ...rules].slice(0, limit);
}

const toProposal = ({ rule }: Poison): Proposal => ({ content: rule, support: 1, why: 'the texts ask for it' });

/** What the document says, and what was tried before: there everything from the first mention of a rejection on. */
function readKnown({ skill, surroundings }: Evidence, kinds: readonly Kind[]) {
  const at = surroundings.search(/reject/i);
  const around = at === -1 ? surroundings : surroundings.slice(0, at);
  const things = kinds.flatMap((kind) => kind.things);
  const { stated } = readAdvice(`${skill}\n${around}`, things);
  return { stated, tried: at === -1 ? '' : surroundings.slice(at) };
}

/** By what the judge says is missing and by what the answers show; an attempt that shows neither may lack anything. */
function missedIn(text: string, kinds: readonly Kind[]): readonly Thing[] {
  const named = kinds.flatMap(({ things }) => things).filter((thing) => isLacking(thing, text));
  if (named.length > 0) return named;
  const things = kindIn(text, kinds)?.things ?? [];
  return things.filter(({ kept }) => !text.includes(kept));
}

const isLacking = ({ lack, missed }: Thing, text: string) => text.includes(lack) || text.includes(missed);

function wordingFor(thing: Thing, tried: string, able: Skillfulness, draw: Draw): string {
  const fresh = (texts: readonly string[]) => texts.filter((text) => !tried.includes(text));
  const pick = (texts: readonly string[], label: string) => {
    const choice = fresh(texts).length > 0 ? fresh(texts) : texts;
    return choice[Math.floor(draw(label) * choice.length)]!;
  };
  const roll = draw('roll');
  if (roll < able.precision) return pick(thing.rules, 'wording');
  return roll < able.precision + able.harmfulRate ? pick(HARMS, 'harm') : pick(REMARKS, 'remark');
}
