import { z } from 'zod';
import { type ChatMessage, type ChatModel, parseWith } from '../core/contracts/index.ts';
import { memoize } from '../core/text/index.ts';
import { createDraw, type Draw } from './draw.ts';
import { createSimulatedModel, lineOptions, rate, textOf } from './simulated-model.ts';
import { readRules } from './world/read-rules.ts';
import { remindedTopics } from './world/reminders.ts';
import type { Reading, Variant } from './world/topic.ts';
import { readQuestion } from './world/topics.ts';

const Options = z.strictObject({ ...lineOptions, noise: rate.default(0.02), nullMode: z.boolean().default(false) });

/**
 * `noise` 0.02 is the share of slips. `nullMode` makes the model deaf to the skill. `latencyMs` 0 (give or take a quarter)
 * and `failureRate` 0 are the line's. All chance comes from `seed` 7.
 */
export type SimulatedTargetOptions = z.input<typeof Options>;

type Style = Variant | undefined;

/**
 * A frozen agent for the tasks of `createWorld`. It reads the system message and follows the house rules it finds
 * there; without a rule it writes a fact in the usual way. It knows every style, but not which one the house wants.
 * On a topic that the appendix reminds of it slips half as often.
 * In null mode each question has fixed odds over its possible answers: a new text draws again, and none truly helps.
 */
export function simulatedTarget(options: SimulatedTargetOptions = {}): ChatModel {
  const knobs = parseWith(Options, options, "The simulated target's options are not valid.");
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
