/**
 * What a stranger sees of a run on a terminal of 80 columns and 24 lines. `SCREENS=DIR npx vitest run test/e2e/first-screen`
 * writes the screens with their colours; `scripts/draw-screen.py` draws them, as they lie beside this file.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COLOR_CODES, textWidth } from '../../../src/report/index.ts';
import { FIXTURE_RUNS } from './fixture-runs.ts';

const plain = (text: string) => text.replaceAll(new RegExp(COLOR_CODES, 'g'), '');
/** The time is another one each time; its place stays as wide. */
const timeless = (text: string) =>
  text.replaceAll(/in all, [\d.:]+(?: s)?(?= )/g, (time) => 'in all, # s'.padEnd(time.length));

const EXIT_CODES: Readonly<Record<string, number>> = { 'broken-optimizer': 1, 'budget-ended': 3 };

describe.each(FIXTURE_RUNS)('the first screen of a run: $name', ({ name, play }) => {
  it('answers: better? how sure? what changed? what did it cost? what next?', async () => {
    const { code, shown, piped, reportPage, listed } = await play();
    expect(code).toBe(EXIT_CODES[name] ?? 0);
    if (process.env.SCREENS) writeFileSync(join(process.env.SCREENS, `${name}.ansi`), shown);
    const lines = timeless(plain(shown)).trimEnd().split('\n');
    expect(lines.slice(0, 24).join('\n')).toMatchSnapshot();
    expect(lines.length).toBeLessThanOrEqual(24);
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(80);
    expect(piped).not.toContain('…\n'); // a pipe gets whole lines
    const verdict = piped.split('\n')[0]!;
    expect(reportPage.split('\n\n').slice(0, 2).join(': ')).toBe(`# ${verdict}`);
    expect(listed).toMatch(LISTED[name]!);
  });
});

const LISTED: Readonly<Record<string, RegExp>> = {
  proven: / done, better /,
  'not-proven': / done, not proven /,
  worse: / done, worse /,
  'broken-optimizer': / broken /,
  'budget-ended': / step 5 of 8 /,
};
