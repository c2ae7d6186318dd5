import { combineJudgements, type Judgement } from '../../core/stats/index.ts';
import { percent, plural, points } from '../../core/text/index.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** What passes of one skill say about the judge. All but the shares in units of a score. */
export type JudgeFigures = {
  readonly judgements: number;
  /** Standard deviation of one judgement about its answer's score. `null`: nothing was judged twice. */
  readonly judgeNoise: number | null;
  /** Standard deviation of an answer's score about its task's mean, the judge's part taken out. */
  readonly rolloutNoise: number | null;
  /** How much more an answer gets for standing first. `null`: it never stood beside another. */
  readonly positionBias: number | null;
  readonly failedShare: number;
  /** Of the answers: no judgement of them could be had. */
  readonly unjudgedShare: number;
};

/** `undefined` where no judge was asked. */
export function judgeFigures(judgements: readonly Judgement[]): JudgeFigures | undefined {
  if (judgements.length === 0) return undefined;
  const { judgeVariance, rolloutVariance, positionBias, failedShare, missingShare } = combineJudgements(judgements);
  const deviation = (variance: number | undefined) => (variance === undefined ? null : Math.sqrt(variance));
  return {
    judgements: judgements.length,
    judgeNoise: deviation(judgeVariance),
    // Without the judge's part it would be the noise of both.
    rolloutNoise: judgeVariance === undefined ? null : deviation(rolloutVariance),
    positionBias: positionBias ?? null,
    failedShare,
    unjudgedShare: missingShare,
  };
}

export function judgeLines(figures: JudgeFigures, { colors }: Pick<Terminal, 'colors'>): string[] {
  const { judgements, judgeNoise, rolloutNoise, positionBias, failedShare, unjudgedShare } = figures;
  const noise = (deviation: number | null) =>
    deviation === null ? 'not known: no answer was judged twice' : `±${(100 * deviation).toFixed(1)} points`;
  return [
    '',
    colors.dim(`the judge, by ${plural(judgements, 'judgement')} (standard deviations of one)`),
    `  noise of the judge: ${noise(judgeNoise)}`,
    `  noise of the answers themselves: ${noise(rolloutNoise)}`,
    ...(positionBias === null ? [] : [`  for standing first: ${points(positionBias)} points`]),
    `  judgements that failed: ${percent(failedShare)}, answers without a score: ${percent(unjudgedShare)}`,
  ];
}
