import { z } from 'zod';
import type { Verify } from '../../core/judge/index.ts';
import { head, parseJson, strip } from '../../core/text/index.ts';

/** What a verifier said. Without a verdict nothing is known: that is no zero. */
export type Verdict = {
  /** The end of what it printed, unless all is well. */
  readonly output?: string;
} & ({ readonly hard: number; readonly soft: number; readonly reason?: string } | { readonly missing: string });

/** What a verifier must leave, by what its verdict is read from. */
export const VERDICT_HINTS: Readonly<Record<Verify['verdict'], string>> = {
  'exit-code':
    'The verifier must end by itself: with exit code 0 where the work is right, and another up to 125 where not.',
  reward:
    'With verdict: reward the verifier must write a number from 0 to 1 into reward.txt, or numbers by name into reward.json, in the folder $SKILLOPT_VERDICT_DIR (/logs/verifier in a sandbox).',
  junit:
    'With verdict: junit the verifier must write a JUnit report: junit.xml in the folder $SKILLOPT_VERDICT_DIR (/logs/verifier in a sandbox), or the file in the workspace that verify.report names.',
  json: 'With verdict: json the last line that the verifier prints must be {"hard": 1, "soft": 0.5, "reason": "…"}, of which hard is enough, or a number from 0 to 1.',
};

export const unreadable = (missing: string): Verdict => ({ missing });

const share = z.number().min(0).max(1);
const Said = z.object({ hard: share, soft: share.optional(), reason: z.string().optional() });

/** The last line that it printed: `{hard, soft?, reason?}`, or a number. */
export function readJsonVerdict(stdout: string): Verdict {
  const line = strip(stdout).split('\n').at(-1) ?? '';
  const value = parseJson(line);
  const read = Said.safeParse(typeof value === 'number' ? { hard: value, soft: value } : value);
  if (!read.success) return unreadable(`its last line is no verdict: ${JSON.stringify(head(line, 100))}`);
  const { hard, soft = hard, reason } = read.data;
  return { hard, soft, ...(reason === undefined ? {} : { reason: head(reason, 1_000) }) };
}

/** `reward.txt` is a number, `reward.json` numbers by name, of which the mean counts. All of them 1 is a success. */
export function readReward({
  text,
  json,
}: {
  readonly text?: string | undefined;
  readonly json?: string | undefined;
}): Verdict {
  const values = json === undefined ? [Number(strip(text ?? '') || Number.NaN)] : rewardsIn(json);
  if (values.length === 0 || values.some((value) => !(value >= 0 && value <= 1)))
    return unreadable(
      text === undefined && json === undefined ? 'it wrote no reward' : 'its reward is no number from 0 to 1',
    );
  const soft = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { hard: soft === 1 ? 1 : 0, soft };
}

function rewardsIn(json: string): number[] {
  const value = parseJson(json);
  if (typeof value === 'number') return [value];
  const read = z.record(z.string(), z.number()).safeParse(value);
  return read.success ? Object.values(read.data) : [];
}

const CASE = /<testcase\b(?:"[^"]*"|'[^']*'|[^>"'])*?(?:\/>|>([\s\S]*?)<\/testcase>)/g;

/** Test cases of a JUnit report: all that ran must pass, and one must have run. */
export function readJunit(xml: string): Verdict {
  if (!/<testsuites?[\s>]/.test(xml)) return unreadable('its report is no JUnit: it has no testsuite');
  const ran = [...xml.matchAll(CASE)]
    .map(([, inside = '']) => inside)
    .filter((inside) => !/<skipped[\s/>]/.test(inside));
  if (ran.length === 0) return { hard: 0, soft: 0, reason: 'no test ran' };
  const passed = ran.filter((inside) => !/<(?:failure|error)[\s/>]/.test(inside)).length;
  const hard = passed === ran.length ? 1 : 0;
  return { hard, soft: passed / ran.length, ...(hard ? {} : { reason: `${passed} of ${ran.length} tests pass` }) };
}
