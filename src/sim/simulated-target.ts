import { z } from 'zod';
import { type ChatMessage, type ChatModel, parseWith } from '../core/contracts/index.ts';
import { memoize } from '../core/text/index.ts';
import { createDraw, type Draw } from './draw.ts';
import { createSimulatedModel, lineOptions, rate, textOf } from './simulated-model.ts';
import type { Reading, Variant } from './world/topic.ts';
import { readQuestion, readRules, remindedTopics } from './world/world.ts';

const TargetOptions = z.strictObject({
  ...lineOptions,
  noise: rate.default(0.02),
  nullMode: z.boolean().default(false),
});

/**
 * `noise` 0.02 is the share of slips. `nullMode` makes the model deaf to the skill. `latencyMs` 0 (give or take a quarter)
 * and `failureRate` 0 are the line's. All chance comes from `seed` 7.
 */
export type SimulatedTargetOptions = z.input<typeof TargetOptions>;

type Style = Variant | undefined;

/**
 * A frozen agent for the tasks of `createWorld`. It reads the system message and follows the house rules it finds
 * there; without a rule it writes a fact in the usual way. It knows every style, but not which one the house wants.
 * On a topic that the appendix reminds of it slips half as often.
 * In null mode each question has fixed odds over its possible answers: a new text draws again, and none truly helps.
 */
export function simulatedTarget(options: SimulatedTargetOptions = {}): ChatModel {
  const knobs = parseWith(TargetOptions, options, "The simulated target's options are not valid.");
  const { seed, noise, nullMode } = knobs;
  const readSkill = memoize((text: string) => ({ rules: readRules(text), reminded: remindedTopics(text) }), {
    maxEntries: KEPT_TEXTS,
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
      return say(reading.answer(draw('slip') < slipRate ? drawOther(reading, style, draw) : style));
    },
  });
}

const say = (answer: string) => `The record tells us.\n<answer>${answer}</answer>`;

/** From the last `Question:` on, so that a context above it cannot be taken for the question. */
function lastQuestion(messages: readonly ChatMessage[]): string {
  const text = textOf(messages, 'user');
  return text.slice(Math.max(0, text.lastIndexOf('Question:'))).trim();
}

const stylesOf = ({ topic }: Reading): Style[] => [undefined, ...topic.variants];

/** A slip: the fact in a style that was not meant. */
function drawOther(reading: Reading, meant: Style, draw: Draw): Style {
  const others = stylesOf(reading).filter((style) => style !== meant);
  return others[Math.floor(draw('slip to') * others.length)];
}

/** The odds are the question's own, uniform among all odds that add up to one; the throw is the request's. */
function drawByOdds(reading: Reading, odds: Draw, draw: Draw): Style {
  const weighted = stylesOf(reading).map((style, place) => ({ style, weight: -Math.log(1 - odds(`style ${place}`)) }));
  let left = draw('answer') * weighted.reduce((sum, { weight }) => sum + weight, 0);
  for (const { style, weight } of weighted) {
    left -= weight;
    if (left < 0) return style;
  }
  return undefined;
}

/** Texts whose reading is kept: one skill is asked about many tasks. */
const KEPT_TEXTS = 32;

const JudgeOptions = z.strictObject({ ...lineOptions, noise: rate.default(0.02) });

/** `noise` 0.02 is the share of statements that it gets wrong. `seed` 7, `latencyMs` 0 and `failureRate` 0 as for the target. */
export type SimulatedJudgeOptions = z.input<typeof JudgeOptions>;

const ANSWER = /<answer-([0-9a-f]{8})>\n?([\s\S]*?)\n?<\/answer-\1>/g;
const STATEMENTS = '## Statements\n';
const RUBRIC = '## Rubric\n';

/**
 * A judge that understands one thing: what a statement or a rubric puts in double quotes must stand in the answer. One that
 * quotes nothing holds of every answer. It reads the prompts of the judges here, and says what is missing.
 */
export function simulatedJudge(options: SimulatedJudgeOptions = {}): ChatModel {
  const knobs = parseWith(JudgeOptions, options, "The simulated judge's options are not valid.");
  return createSimulatedModel({
    ...knobs,
    id: `sim-judge/1 seed=${knobs.seed} noise=${knobs.noise}`,
    answer({ messages }, draw) {
      const [system, user] = [textOf(messages, 'system'), textOf(messages, 'user')];
      const answers = [...user.matchAll(ANSWER)].map(([, , body = '']) => body);
      const statements = statementsIn(system);
      const judge = (answer: string, place: string) =>
        judgeOne(answer, statements, { draw, place, noise: knobs.noise });
      const [first, second] = answers.map((answer, index) => judge(answer, String(index)));
      const { met, reason } = first ?? judge('', '0');
      if (second) return JSON.stringify({ reason, winner: winnerOf(shareOf(met), shareOf(second.met)) });
      if (system.includes(STATEMENTS)) return JSON.stringify({ reason, met });
      return JSON.stringify({ reason, score: shareOf(met) });
    },
  });
}

/** A numbered list, or the whole rubric as one. */
function statementsIn(system: string): string[] {
  const list = system.split(STATEMENTS)[1];
  if (list !== undefined) return list.split(/\n(?=\d+\. )/).map((line) => line.replace(/^\d+\. /, ''));
  return [system.split(RUBRIC)[1] ?? ''];
}

type Judging = { readonly draw: Draw; readonly place: string; readonly noise: number };

function judgeOne(answer: string, statements: readonly string[], { draw, place, noise }: Judging) {
  const missing = statements.map((statement) => quotedIn(statement).find((text) => !answer.includes(text)));
  const met = missing.map((text, at) => (text === undefined) !== draw(`slip ${place} ${at}`) < noise);
  const lacks = missing.filter((text) => text !== undefined).map((text) => `expected "${text}"`);
  return { met, reason: lacks.length === 0 ? 'all of it holds' : `${lacks.join('; ')}, and it is not there` };
}

const quotedIn = (statement: string) => [...statement.matchAll(/"([^"]+)"/g)].map(([, text = '']) => text);

const shareOf = (met: readonly boolean[]) => met.filter(Boolean).length / Math.max(1, met.length);

const winnerOf = (a: number, b: number) => (a === b ? 'tie' : a > b ? 'A' : 'B');
