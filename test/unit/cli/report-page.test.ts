import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const PAGE = 'docs/reading-the-report.md';

async function cli(cwd: string, ...argv: string[]): Promise<string> {
  const io = captureIo({ cwd, env: { HOME: cwd } });
  expect(await runCli(argv, io), io.err()).toBe(0);
  return io.out();
}

/** The parts of a report, as the page shows them: shortened, and with a time that does not change. */
function partsOf(report: string): string[] {
  const [verdict = '', changed = '', turned = '', cost = '', next = ''] = report.trimEnd().split('\n\n');
  const [title, first, ...others] = changed.split('\n');
  return [
    verdict,
    `${title}\n${first}\n${others.at(-1)}`,
    turned.replace(/(: (?:\S+, ){2}).*$/gm, '$1…'),
    cost.replace(/in all, (?:[\d.]+ s|[\d:]+)/, (all) => 'in all, 3 s'.padEnd(all.length)),
    next,
  ];
}

/** The sentences of the verdict that the list below it explains, in their order. */
const EXPLAINED =
  /^Better: (\S+ → \S+ %) (on \d+ tasks it never saw), (proven, \S+ to \S+ points)\. (\d+ calls, \S+)\. (\d+ lines added)\.\n(On the \d+ tasks it was chosen by)/;

function pageOf(page: string, report: string): string {
  const parts = partsOf(report);
  const [, ...terms] = EXPLAINED.exec(report) ?? [];
  const shown = page.replace(/(?<=^```text\n).*?(?=\n```$)/gms, (old) => parts.shift() ?? old);
  return shown.replace(/(?<=^- \*\*).*?(?=\*\*:)/gm, (old) => terms.shift() ?? old);
}

it('the page about the report shows a true one, of the project that init writes; WRITE_DOCS=1 writes it', async () => {
  using folder = tempFolder();
  await cli(folder.path, 'init', 'my-skill');
  const report = await cli(join(folder.path, 'my-skill'), 'train', '--quiet');
  const page = pageOf(readFileSync(PAGE, 'utf8'), report);
  if (process.env.WRITE_DOCS === '1') writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, 'utf8')).toBe(page);
});
