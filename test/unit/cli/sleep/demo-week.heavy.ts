import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runCli } from '../../../../src/cli/index.ts';
import { captureIo } from '../../../support/capture-io.ts';

it('skillopt demo sleep is in the documentation with its true output, shortened; WRITE_DOCS=1 writes it', async () => {
  const io = captureIo({ columns: 100 });
  expect(await runCli(['demo', 'sleep', '--quiet'], io)).toBe(0);
  const nights = io.out().trimEnd().split('\n\n');
  const shown = [nights[1], nights[2], '…', nights[5], '…', nights.at(-1)].join('\n');
  const page = new URL('../../../../docs/sleep.md', import.meta.url);
  const text = readFileSync(page, 'utf8');
  const told = text.replace(/(?<=on unseen days:\n\n```text\n)[\s\S]*?(?=\n```\n)/, () => shown);
  if (process.env.WRITE_DOCS === '1') writeFileSync(page, told);
  expect(readFileSync(page, 'utf8')).toBe(told);
  expect(told).toContain(shown);
}, 120_000);
