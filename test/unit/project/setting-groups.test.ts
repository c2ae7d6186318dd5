import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { configShape } from '../../../src/core/contracts/index.ts';
import { MAIN_SETTINGS, projectKeys, SETTING_GROUPS } from '../../../src/project/index.ts';
import { settingsTable } from '../../support/settings-table.ts';

const DOC = new URL('../../../docs/settings.md', import.meta.url);
const shape = { ...projectKeys, ...configShape };
const grouped = SETTING_GROUPS.flatMap(({ keys }) => keys);

it('every setting is in one group', () => {
  expect([...grouped].sort()).toEqual(Object.keys(shape).sort());
});

it('help shows ten of them', () => {
  expect(MAIN_SETTINGS.size).toBe(10);
  expect(grouped).toEqual(expect.arrayContaining([...MAIN_SETTINGS]));
});

it('the documentation shows them all; WRITE_DOCS=1 writes it', () => {
  const groups = SETTING_GROUPS.map(({ title, keys }) => `## ${title}\n\n${settingsTable(shape, keys)}`).join('\n\n');
  const text = `# Settings\n\nAll keys of a project file, grouped by subject. In the file they are all at the top level. Flags have the same names, with dashes.\n\n${groups}\n`;
  if (process.env.WRITE_DOCS === '1') writeFileSync(DOC, text);
  expect(readFileSync(DOC, 'utf8')).toBe(text);
});
