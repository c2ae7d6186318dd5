import { describe, expect, it } from 'vitest';
import { commands } from '../../../../src/cli/command-table.ts';
import { runCli } from '../../../../src/cli/index.ts';
import { COLOR_CODES, textWidth } from '../../../../src/report/index.ts';
import { captureIo } from '../../../support/capture-io.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const plain = (text: string) => text.replaceAll(new RegExp(COLOR_CODES, 'g'), '');

/** What a command shows on a terminal of so many columns. */
async function shown(line: string, columns: number, cwd = '/nowhere'): Promise<string> {
  const io = captureIo({ cwd, columns, isTTY: true, env: { HOME: cwd, CI: '1' } });
  await runCli(line.split(' '), io);
  return plain(io.out() + io.err());
}

/** Lines that are wider than the terminal, but for those of a patch and those with a word, such as a path, that fills one. */
const tooWide = (text: string, columns: number) =>
  text
    .split('\n')
    .filter((line) => textWidth(line) > columns && !/^[+ -](?! )/.test(line) && !hasLongWord(line, columns));

const hasLongWord = (line: string, columns: number) => words(line).some((word) => textWidth(word) > columns - 12);

const words = (text: string) => text.split(/\s+/).filter((word) => word !== '');

describe.each([80, 60])('on a terminal of %i columns', (columns) => {
  const helps = ['--help', ...commands.map(({ name }) => `${name} --help`)];

  it.each(helps)('%s fits, and no word is broken', async (line) => {
    const text = await shown(line, columns);
    expect(tooWide(text, columns)).toEqual([]);
    expect(words(text).toSorted()).toEqual(words(await shown(line, 400)).toSorted());
  });

  it('a project fits from init to apply', async () => {
    using folder = tempFolder();
    const lines = ['init', 'doctor', 'estimate', 'train --quiet', 'show', 'runs', 'apply starter --yes'];
    const wide: Record<string, string[]> = {};
    for (const line of [...lines, 'train --nope', 'show nothing', 'train --tasks none.csv']) {
      const found = tooWide(await shown(line, columns, folder.path), columns);
      if (found.length > 0) wide[line] = found;
    }
    expect(wide).toEqual({});
  });
});
