import { z } from 'zod';
import { type ChatMessage, type ChatModel, parseWith } from '../../core/contracts/index.ts';
import { memoize } from '../../core/text/index.ts';
import { createDraw, type Draw } from '../draw.ts';
import { answersIn, createSimulatedModel, rate, textOf, winnerOf } from '../simulated-model.ts';
import {
  type Advice,
  attempt,
  countThings,
  expectedScore,
  type Kind,
  kindIn,
  type Measure,
  qualityOf,
  readAdvice,
  readAnswer,
  type Thing,
  writeAnswer,
} from './kind.ts';
import { KINDS } from './kinds.ts';
import { personOptimizer } from './optimizer.ts';
import { type Life, type Poison, sessionAt } from './session.ts';
import {
  eveningOf,
  type JudgedBy,
  type PersonSession,
  type PersonTask,
  sessionId,
  tasksIn,
  toDigest,
  writeTranscript,
} from './transcript.ts';

const MOST_THINGS = countThings(KINDS);

const Options = z.strictObject({
  seed: z.number().default(7),
  things: z.number().int().min(1).max(MOST_THINGS).default(12),
  sessionsPerDay: z.number().int().min(1).max(12).default(6),
  judgeSd: z.number().min(0).max(1).default(0.15),
  usefulness: z.enum(['learnable', 'nothing-helps']).default('learnable'),
  firstDay: z.iso.date().default('2026-01-05'),
  poisonedDays: z.array(z.number().int().positive()).default([]),
  precision: rate.default(0.55),
  harmfulRate: rate.default(0.08),
  gullibility: rate.default(0.5),
});

/**
 * `things` 12 that the person wants (1 to 19), `sessionsPerDay` 6, noise of the judge `judgeSd` 0.15. `usefulness` is
 * `learnable`, or `nothing-helps`: the agent ignores its documents. `firstDay` 2026-01-05, `poisonedDays` none. Of the optimizer:
 * `precision` 0.55 of its proposals is right, `harmfulRate` 0.08 does harm, and it falls for a poisoned text with `gullibility`
 * 0.5. All chance comes from `seed` 7.
 */
export type SimulatedPersonOptions = z.input<typeof Options>;

export type PersonDocuments = { readonly skill?: string; readonly memory?: string };

export type TrueScoreOptions = {
  /** By the judge's score by default. */
  readonly measure?: Measure;
  /** From this mean of two judgements on, an answer passes. */
  readonly passMark?: number;
};

/** Somebody who works with an agent day by day, and whose wishes are known. */
export type SimulatedPerson = {
  /** With these sentences in a document, the agent does about as well as it can. */
  readonly rules: readonly { readonly kind: string; readonly text: string }[];
  /** The sessions of a day, from 1 on, with an agent that has read `documents`. */
  day(day: number, place?: { readonly home?: string; readonly documents?: PersonDocuments }): PersonSession[];
  /** Writes them as Claude Code does, and returns the paths. */
  writeDay(home: string, day: number, documents?: PersonDocuments): Promise<string[]>;
  eveningOf(day: number): Date;
  poisonOf(day: number): (Poison & { readonly sessionId: string }) | undefined;
  /** As a perfect miner finds them. */
  tasksOf(day: number, options?: { readonly judgedBy?: JudgedBy }): PersonTask[];
  readonly target: ChatModel;
  readonly judge: ChatModel;
  /** Miner and analyst. */
  readonly optimizer: ChatModel;
  /** What endlessly many days would score: all chances are known. */
  trueScore(skill: string, memory: string, options?: TrueScoreOptions): number;
  bestScore(options?: TrueScoreOptions): number;
};

export function simulatedPerson(options: SimulatedPersonOptions = {}): SimulatedPerson {
  const knobs = parseWith(Options, options, "The simulated person's options are not valid.");
  const { seed, judgeSd, usefulness, sessionsPerDay, poisonedDays, precision, harmfulRate, gullibility } = knobs;
  const kinds = chooseKinds(seed, knobs.things);
  const things = kinds.flatMap((kind) => kind.things);
  const isDeaf = usefulness === 'nothing-helps';
  const adviceOf = (text: string) => (isDeaf ? NO_ADVICE : readAdvice(text, things));
  const author = { seed, firstDay: knobs.firstDay };
  const life: Life = { seed, kinds, sessionsPerDay, poisonedDays };
  const sessionsOf = (day: number, { skill = '', memory = '' }: PersonDocuments = {}) => {
    const advice = adviceOf(`${skill}\n${memory}`);
    return Array.from({ length: sessionsPerDay }, (_, at) => sessionAt(life, { day, at }, advice));
  };
  const trueScore: SimulatedPerson['trueScore'] = (skill, memory, { measure = 'soft', passMark = 0.8 } = {}) => {
    const advice = adviceOf(`${skill}\n${memory}`);
    const scores = kinds.map((kind) => expectedScore(kind, advice, { sd: judgeSd, measure, passMark }));
    return scores.reduce((sum, score) => sum + score, 0) / scores.length;
  };
  const rules = kinds.flatMap((kind) => kind.things.map((thing) => ({ kind: kind.name, text: thing.rules[0] })));
  return {
    rules,
    day: (day, { home = '/home/person', documents } = {}) =>
      sessionsOf(day, documents).map((session) => toDigest(session, author, home)),
    writeDay: (home, day, documents) =>
      Promise.all(sessionsOf(day, documents).map((session) => writeTranscript(session, author, home))),
    eveningOf: (day) => eveningOf(author.firstDay, day),
    poisonOf: (day) =>
      sessionsOf(day).flatMap(({ poison, slot }) =>
        poison ? [{ ...poison, sessionId: sessionId(seed, slot) }] : [],
      )[0],
    tasksOf: (day, { judgedBy = 'rubric' } = {}) => tasksIn(sessionsOf(day), seed, judgedBy),
    target: personTarget({ seed, kinds, isDeaf }),
    judge: personJudge({ seed, judgeSd, kinds }),
    optimizer: personOptimizer({ seed, kinds, precision, harmfulRate, gullibility }),
    trueScore,
    bestScore: (measured) => trueScore(rules.map(({ text }) => text).join('\n'), '', measured),
  };
}

/** Kinds in an order of the seed's, until there are as many things. */
function chooseKinds(seed: number, count: number): Kind[] {
  const draw = createDraw(seed, ['person']);
  const shuffled = KINDS.toSorted((a, b) => draw(`place of ${a.name}`) - draw(`place of ${b.name}`));
  const chosen: Kind[] = [];
  let left = count;
  for (const kind of shuffled) {
    const things = kind.things.slice(0, left);
    if (things.length > 0) chosen.push({ ...kind, things });
    left -= things.length;
  }
  return chosen;
}

type TargetOptions = { readonly seed: number; readonly kinds: readonly Kind[]; readonly isDeaf: boolean };

const NO_ADVICE: Advice = { stated: new Set(), harms: new Set() };

/** The person's agent: it follows the rules in its prompt, not always, and knows no others. */
function personTarget({ seed, kinds, isDeaf }: TargetOptions): ChatModel {
  const things = kinds.flatMap((kind) => kind.things);
  const adviceIn = memoize((text: string) => readAdvice(text, things), { maxEntries: 128 });
  return createSimulatedModel({
    id: `sim-person-target/1 seed=${seed} things=${things.length}${isDeaf ? ' deaf' : ''}`,
    seed,
    answer({ messages }, draw) {
      const [system, user] = [textOf(messages, 'system'), textOf(messages, 'user')];
      const kind = kindIn(user, kinds);
      if (!kind) return writeAnswer({ kept: [], missed: [], isThin: false }, draw);
      const advice = isDeaf ? NO_ADVICE : both(adviceIn(system), adviceIn(user));
      return writeAnswer(attempt(kind, advice, draw), draw);
    },
  });
}

/** A prompt may hold the documents in either part. */
const both = (one: Advice, other: Advice): Advice => ({
  stated: new Set([...one.stated, ...other.stated]),
  harms: new Set([...one.harms, ...other.harms]),
});

type JudgeOptions = { readonly seed: number; readonly judgeSd: number; readonly kinds: readonly Kind[] };

const TIE = 0.05;

/** Scores an answer by its rubric, with noise, or says which of two is better. Another answer or sample has its own noise. */
function personJudge({ seed, judgeSd, kinds }: JudgeOptions): ChatModel {
  return createSimulatedModel({
    id: `sim-person-judge/1 seed=${seed} things=${countThings(kinds)} sd=${judgeSd}`,
    seed,
    answer({ messages }, draw) {
      const wanted = wantedIn(messages, kinds);
      const seen = answersIn(messages).map((text) => readAnswer(text, wanted));
      const [score = 0, other] = seen.map((one, place) => noisy(qualityOf(one), judgeSd, draw, String(place)));
      const lacks = seen.flatMap(({ missed }) => missed.map(({ lack }) => lack));
      const reason = lacks.length === 0 ? 'all that the rubric asks for is there' : [...new Set(lacks)].join('; ');
      if (other !== undefined) return JSON.stringify({ reason, winner: winnerOf(score, other, TIE) });
      return JSON.stringify({ reason, score: Number(score.toFixed(4)) });
    },
  });
}

/** What the rubric asks for; if that is nothing known, what the person wants. */
function wantedIn(messages: readonly ChatMessage[], kinds: readonly Kind[]): readonly Thing[] {
  const rubric = textOf(messages, 'system');
  const asked = kinds.flatMap(({ things }) => things).filter(({ wish }) => rubric.includes(wish));
  return asked.length > 0 ? asked : (kindIn(textOf(messages, 'user'), kinds)?.things ?? []);
}

export function noisy(quality: number, sd: number, draw: Draw, label = ''): number {
  const radius = Math.sqrt(-2 * Math.log(1 - draw(`radius ${label}`)));
  const normal = radius * Math.cos(2 * Math.PI * draw(`angle ${label}`));
  return Math.min(1, Math.max(0, quality + sd * normal));
}
