import { configShape } from '../../core/config.ts';
import { SkillError } from '../../core/errors.ts';
import { isBlank, type KeyRow, SECTIONS, type Section } from './key-row.ts';
import { findRow } from './key-table.ts';
import type { Layer, Values } from './layer.ts';

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
  return (row.to ?? '').split(', ').map((to) => ({ to, value: readValue(row, to, value) }));
}

/** Of the section `model`, the keys that are no part of a model. */
const isOfRun = ({ section, to }: KeyRow) => section !== 'model' || to === 'rewriteMaxCompletionTokens';

function readValue(row: KeyRow, to: string, value: unknown): unknown {
  if (row.values !== undefined) return findWord(row, row.values, value);
  if (to === 'rolloutTimeoutMs') return taskLimitMs(value);
  return isSwitch(to) ? (SWITCHES[String(value).toLowerCase()] ?? value) : value;
}

function findWord({ section, key }: KeyRow, values: Readonly<Record<string, string>>, value: unknown): string {
  const word = String(value).trim().toLowerCase();
  if (Object.hasOwn(values, word)) return values[word]!;
  const message = `${section}.${key}: expected one of ${Object.keys(values).join(', ')}, got ${JSON.stringify(value)}`;
  throw new SkillError('CONFIG_INVALID', message, {
    hint: `Ours are ${[...new Set(Object.values(values))].join(', ')}.`,
  });
}

/** Seconds for what a task runs, and a minute for the rest of it. */
function taskLimitMs(seconds: unknown): unknown {
  if (typeof seconds !== 'number') return seconds; // the schema says what is wrong with it
  return Math.max(configShape.rolloutTimeoutMs.parse(undefined), Math.round((seconds + 60) * 1000));
}

/** Older YAML has more words for true and false than the YAML we read. */
const SWITCHES: Readonly<Record<string, boolean>> = { yes: true, on: true, no: false, off: false };

const isSwitch = (to: string) =>
  Object.hasOwn(configShape, to) &&
  typeof configShape[to as keyof typeof configShape].safeParse(undefined).data === 'boolean';
