import { configShape } from '../../core/contracts/index.ts';
import { isBlank, type KeyRow, SECTIONS, type Section } from './key-row.ts';
import { findRow } from './key-table.ts';
import type { Layer, Values } from './layer.ts';
import { readFor, readNumber, readWord } from './read-value.ts';

type Setting = { readonly to: string; readonly value: unknown };

/** Everything outside the section `model`, in our words. */
export function runSettings({ sections }: Layer): Values {
  const settings = SECTIONS.flatMap((section) =>
    Object.entries(sections[section]).flatMap(([key, value]) => settingsOf(section, key, value)),
  );
  const extras = settings.filter(({ to }) => to.startsWith(EXTRAS));
  const own = settings.filter(({ to }) => !to.startsWith(EXTRAS));
  const largest = own
    .filter(({ to }) => to === 'workers')
    .sort(byValue)
    .slice(-1);
  return {
    splitRatio: '2:1:7', // what SkillOpt's environments do when nothing is said
    ...collect([...own, ...largest]),
    ...(extras.length === 0 ? {} : { extras: collect(extras) }),
  };
}

const EXTRAS = 'extras.';
const byValue = (a: Setting, b: Setting) => Number(a.value) - Number(b.value);

const collect = (settings: readonly Setting[]): Values =>
  Object.fromEntries(settings.map(({ to, value }) => [to.replace(EXTRAS, ''), value]));

function settingsOf(section: Section, key: string, value: unknown): Setting[] {
  const row = findRow(section, key);
  if (isBlank(value)) return [];
  if (row === undefined) return section === 'env' ? [{ to: `${EXTRAS}${key}`, value }] : [];
  if (row.does !== 'mapped' || !isOfRun(row)) return [];
  return (row.to ?? '').split(', ').map((to) => ({ to, value: readSetting(row, to, value) }));
}

/** Of the section `model`, the keys that are no part of a model. */
const isOfRun = ({ section, to }: KeyRow) => section !== 'model' || to === 'rewriteMaxCompletionTokens';

function readSetting(row: KeyRow, to: string, value: unknown): unknown {
  const name = `${row.section}.${row.key}`;
  if (row.values !== undefined) return readWord(name, row.values, value);
  if (to === 'rolloutTimeoutMs') return taskLimitMs(readNumber(name, value));
  if (to === `${EXTRAS}maxCompletionTokens`) return readNumber(name, value);
  return readFor(to, value);
}

/** Seconds for what a task runs, and a minute for the rest of it. */
const taskLimitMs = (seconds: number) =>
  Math.max(configShape.rolloutTimeoutMs.parse(undefined), Math.round((seconds + 60) * 1000));
