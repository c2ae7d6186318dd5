import { z } from 'zod';
import { type ChatMessage, type ChatModel, parseWith } from '../core/contracts/index.ts';
import { memoize } from '../core/text/index.ts';
import { createDraw, type Draw } from './draw.ts';
import { answersIn, createSimulatedModel, lineOptions, rate, textOf, winnerOf } from './simulated-model.ts';
import { type Reading, slippedStyle, stylesOf, type Variant } from './world/topic.ts';
import { readQuestion, readRules, remindedTopics } from './world/world.ts';

const TargetOptions = z.strictObject({
  ...lineOptions,
  noise: rate.default(0.02),
  nullMode: z.boolean().default(false),
});

/**
 * `noise` 0.02 is the share of slips. In `nullMode` the model ignores the skill. `latencyMs` 0 (give or take a quarter),
 * `failureRate` 0, and `seed` 7.
 */
export type SimulatedTargetOptions = z.input<typeof TargetOptions>;

/**
 * An agent for the tasks of `createWorld`. It follows the house rules in the system message, and writes other facts in the usual
 * way. It slips half as often on a topic that the appendix reminds of. In null mode each question has fixed odds over its
 * answers: a new text draws again, and none truly helps.
 */
export function simulatedTarget(options: SimulatedTargetOptions = {}): ChatModel {
  const knobs = parseWith(TargetOptions, options, "The simulated target's options are not valid.");
  const { seed, noise, nullMode } = knobs;
  const readSkill = memoize((text: string) => ({ rules: readRules(text), reminded: remindedTopics(text) }), {
    maxEntries: 32, // one skill is asked about many tasks
  });
  return createSimulatedModel({
    ...knobs,
    id: `sim-target/1 seed=${seed} ${nullMode ? 'null' : `noise=${noise}`}`,
    answer({ messages }, draw) {
      const question = lastQuestion(messages);
      const reading = readQuestion(question);
      if (!reading) return say('I do not know');
      if (nullMode) return say(reading.answer(drawByOdds(reading, createDraw(seed, ['odds', question]), draw)));
      const { rules, reminded } = readSkill(textOf(messages, 'system'));
      const style = rules.get(reading.topic.name)?.variant;
      const slipRate = reminded.has(reading.topic.name) ? noise / 2 : noise;
      return say(reading.answer(slippedStyle(reading, style, slipRate, draw)));
    },
  });
}

const say = (answer: string) => `The record tells us.\n<answer>${answer}</answer>`;

function lastQuestion(messages: readonly ChatMessage[]): string {
  const text = textOf(messages, 'user');
  return text.slice(Math.max(0, text.lastIndexOf('Question:'))).trim();
}

/** The odds belong to the question, uniform among all odds; the throw belongs to the request. */
function drawByOdds(reading: Reading, odds: Draw, draw: Draw): Variant | undefined {
  const weighted = stylesOf(reading).map((style, place) => ({ style, weight: -Math.log(1 - odds(`style ${place}`)) }));
  let left = draw('answer') * weighted.reduce((sum, { weight }) => sum + weight, 0);
  for (const { style, weight } of weighted) {
    left -= weight;
    if (left < 0) return style;
  }
  return undefined;
}

const JudgeOptions = z.strictObject({ ...lineOptions, noise: rate.default(0.02) });

/** `noise` 0.02 is the share of wrong verdicts. `seed` 7, `latencyMs` 0 and `failureRate` 0 as for the target. */
export type SimulatedJudgeOptions = z.input<typeof JudgeOptions>;

const STATEMENTS = '## Statements\n';
const RUBRIC = '## Rubric\n';

/** A judge that understands one thing: what a statement or a rubric puts in double quotes must stand in the answer. */
export function simulatedJudge(options: SimulatedJudgeOptions = {}): ChatModel {
  const knobs = parseWith(JudgeOptions, options, "The simulated judge's options are not valid.");
  return createSimulatedModel({
    ...knobs,
    id: `sim-judge/1 seed=${knobs.seed} noise=${knobs.noise}`,
    answer({ messages }, draw) {
      const system = textOf(messages, 'system');
      const statements = statementsIn(system);
      const judge = (answer: string, place: number) =>
        judgeOne(answer, statements, (at) => draw(`slip ${place} ${at}`) < knobs.noise);
      const [first, second] = answersIn(messages).map(judge);
      const { met, reason } = first ?? judge('', 0);
      if (second) return JSON.stringify({ reason, winner: winnerOf(shareOf(met), shareOf(second.met)) });
      if (system.includes(STATEMENTS)) return JSON.stringify({ reason, met });
      return JSON.stringify({ reason, score: shareOf(met) });
    },
  });
}

function statementsIn(system: string): string[] {
  const list = system.split(STATEMENTS)[1];
  if (list !== undefined) return list.split(/\n(?=\d+\. )/).map((line) => line.replace(/^\d+\. /, ''));
  return [system.split(RUBRIC)[1] ?? ''];
}

function judgeOne(answer: string, statements: readonly string[], isSlip: (at: number) => boolean) {
  const missing = statements.map((statement) => quotedIn(statement).find((text) => !answer.includes(text)));
  const met = missing.map((text, at) => (text === undefined) !== isSlip(at));
  const lacks = missing.filter((text) => text !== undefined).map((text) => `expected "${text}"`);
  return { met, reason: lacks.length === 0 ? 'all of it holds' : `${lacks.join('; ')}, and it is not there` };
}

const quotedIn = (statement: string) => [...statement.matchAll(/"([^"]+)"/g)].map(([, text = '']) => text);

const shareOf = (met: readonly boolean[]) => met.filter(Boolean).length / Math.max(1, met.length);
