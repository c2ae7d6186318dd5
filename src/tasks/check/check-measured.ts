import { type Calibration, type Evidence, itemMean } from '../../core/stats/index.ts';
import { type Finding, finding } from './finding.ts';

/** From here on nothing is left to gain. */
const TOO_EASY = 0.95;
/** With one pass off by more, chance decides what is kept. */
const TOO_NOISY = 0.08;

/** What attempts by the target say of the tasks. */
export function checkMeasured(
  evidence: Evidence,
  { score = 0, noiseFloor, flakiest, warning }: Calibration,
): Finding[] {
  const ids = [...evidence.keys()];
  const percent = `${(100 * score).toFixed(1)} %`;
  const isHopeless = ids.every((id) => itemMean(evidence.get(id)!) === 0);
  const isNoisy = noiseFloor > TOO_NOISY;
  return [
    ...finding('too-easy', score >= TOO_EASY ? ids : [], {
      what: `the target already passes ${percent}: nothing is left to learn`,
      todo: 'Write harder tasks, or use a smaller target.',
      level: 'senseless',
    }),
    ...finding('too-hard', isHopeless ? ids : [], {
      what: 'the target passes none of them: the scoring may be wrong, or the tasks are out of its reach',
      todo: 'Look at a few answers with skillopt eval, mend the scoring, or write easier tasks.',
      level: 'senseless',
    }),
    ...finding('too-noisy', isNoisy ? flakiest.map(({ id }) => id) : [], {
      what: `one pass is off by ±${(100 * noiseFloor).toFixed(1)} points by chance`,
      todo: warning ?? 'Use more tasks, or ask for answers that can be checked exactly.',
    }),
  ];
}
