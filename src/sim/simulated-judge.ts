import { z } from 'zod';
import { type ChatModel, parseWith } from '../core/contracts/index.ts';
import type { Draw } from './draw.ts';
import { createSimulatedModel, lineOptions, rate, textOf } from './simulated-model.ts';

const Options = z.strictObject({ ...lineOptions, noise: rate.default(0.02) });

/** `noise` 0.02 is the share of statements that it gets wrong. `seed` 7, `latencyMs` 0 and `failureRate` 0 as for the target. */
export type SimulatedJudgeOptions = z.input<typeof Options>;

const ANSWER = /<answer-([0-9a-f]{8})>\n?([\s\S]*?)\n?<\/answer-\1>/g;
const STATEMENTS = '## Statements\n';
const RUBRIC = '## Rubric\n';

/**
 * A judge that understands one thing: what a statement or a rubric puts in double quotes must stand in the answer. One that
 * quotes nothing holds of every answer. It reads the prompts of the judges here, and says what is missing.
 */
export function simulatedJudge(options: SimulatedJudgeOptions = {}): ChatModel {
  const knobs = parseWith(Options, options, "The simulated judge's options are not valid.");
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
