import type { ChatMessage, ChatModel } from '../../core/contracts/index.ts';
import type { Draw } from '../draw.ts';
import { createSimulatedModel, textOf } from '../simulated-model.ts';
import { readAnswer } from './answer.ts';
import { countThings, type Kind, kindIn, type Thing } from './kind.ts';
import { qualityOf } from './quality.ts';

type JudgeOptions = { readonly seed: number; readonly judgeSd: number; readonly kinds: readonly Kind[] };

const ANSWER = /<answer-([0-9a-f]{8})>\n?([\s\S]*?)\n?<\/answer-\1>/g;

/**
 * Scores an answer by what its rubric asks for, with noise, or says which of two is better. The noise of a question is always
 * the same; another answer, or another sample, has its own.
 */
export function personJudge({ seed, judgeSd, kinds }: JudgeOptions): ChatModel {
  return createSimulatedModel({
    id: `sim-person-judge/1 seed=${seed} things=${countThings(kinds)} sd=${judgeSd}`,
    seed,
    latencyMs: 0,
    failureRate: 0,
    answer({ messages }, draw) {
      const wanted = wantedIn(messages, kinds);
      const answers = [...textOf(messages, 'user').matchAll(ANSWER)].map(([, , body = '']) => body);
      const seen = answers.map((text) => readAnswer(text, wanted));
      const scores = seen.map((attempt, place) => noisy(qualityOf(attempt), judgeSd, draw, String(place)));
      const lacks = seen.flatMap(({ missed }) => missed.map(({ lack }) => lack));
      const reason = lacks.length === 0 ? 'all that the rubric asks for is there' : [...new Set(lacks)].join('; ');
      if (scores.length > 1) return JSON.stringify({ reason, winner: winnerOf(scores as [number, number]) });
      return JSON.stringify({ reason, score: Number((scores[0] ?? 0).toFixed(4)) });
    },
  });
}

/** What the rubric asks for; one that asks for nothing known is read as the person would. */
function wantedIn(messages: readonly ChatMessage[], kinds: readonly Kind[]): readonly Thing[] {
  const rubric = textOf(messages, 'system');
  const asked = kinds.flatMap(({ things }) => things).filter(({ wish }) => rubric.includes(wish));
  return asked.length > 0 ? asked : (kindIn(textOf(messages, 'user'), kinds)?.things ?? []);
}

/** A quality as a judge with normal noise sees it, within 0 and 1. */
export function noisy(quality: number, sd: number, draw: Draw, label = ''): number {
  const radius = Math.sqrt(-2 * Math.log(1 - draw(`radius ${label}`)));
  const normal = radius * Math.cos(2 * Math.PI * draw(`angle ${label}`));
  return Math.min(1, Math.max(0, quality + sd * normal));
}

const TIE = 0.05;

function winnerOf([a, b]: readonly [number, number]): 'A' | 'B' | 'tie' {
  if (Math.abs(a - b) < TIE) return 'tie';
  return a > b ? 'A' : 'B';
}
