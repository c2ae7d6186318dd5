import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const page = readFileSync('docs/from/comparison.md', 'utf8');
const TOOLS = 6; // skillopt first

/** A line at the end that says where a claim is from. */
const DEFINITION = /^\[\^([^\]]+)\]: (.*)$/gm;
const sources = [...page.matchAll(DEFINITION)].map(([, label, text]) => ({ label: label!, text: text! }));
const body = page.replaceAll(DEFINITION, '');

/** Of a page of the repository that is defined below the text. */
const pathOf = (label: string) => page.split(`\n[${label}]: `)[1]?.match(/\/blob\/main\/([^#\n]+)/)?.[1] ?? label;

/** The cells of the table whose header begins with these words, without header and rule. */
function tableOf(header: string): string[][] {
  const [, rows = ''] = page.split(`\n| ${header} |`)[1]?.match(/^[^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)/) ?? [];
  const lines = rows.split('\n').filter((line) => line !== '');
  return lines.map((line) =>
    line
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim())
      .slice(1, -1),
  );
}

const properties = tableOf('property');

it('every source that is named stands at the end, once, and every one there is named', () => {
  const named = [...new Set([...body.matchAll(/\[\^([^\]]+)\]/g)].map(([, label]) => label!))];
  expect(named.length).toBeGreaterThan(40);
  expect(sources.map(({ label }) => label).toSorted()).toEqual(named.toSorted());
});

it('every source has an address and a day on which it was read', () => {
  const isDay = (day: string) => new Date(day).toJSON()?.startsWith(day) && new Date(day) <= new Date();
  const lacking = sources.filter(({ text }) => {
    const days = text.match(/\b\d{4}-\d\d-\d\d\b/g) ?? [];
    return !/\]\(https:\/\/[^\s)]+\)/.test(text) || !/\bread \d{4}-\d\d-\d\d\b/.test(text) || !days.every(isDay);
  });
  expect(lacking).toEqual([]);
});

it('every property has a cell for each of six tools', () => {
  expect(properties.length).toBeGreaterThan(12);
  expect(properties.filter((cells) => cells.length !== 1 + TOOLS || cells.includes(''))).toEqual([]);
});

it('a cell about skillopt links to a page; one about another tool names a source, or the day it was looked for', () => {
  const ours = properties.map(([, cell]) => cell!);
  const others = properties.flatMap(([, , ...cells]) => cells);
  expect(ours.filter((cell) => !cell.includes(']('))).toEqual([]);
  expect(others.filter((cell) => !cell.includes('[^') && !cell.includes('not found'))).toEqual([]);
  expect(others.filter((cell) => /not found(?! in its documentation \(\d{4}-\d\d-\d\d\))/.test(cell))).toEqual([]);
});

it('every figure of ours stands on the page that is linked beside it', () => {
  const figures = tableOf('what');
  expect(figures.length).toBeGreaterThan(5);
  const missing = figures.flatMap(([what, measured, links]) => {
    const pages = [...links!.matchAll(/\]\[([^\]]+)\]/g)].map(([, label]) => readFileSync(pathOf(label!), 'utf8'));
    const numbers = `${what} ${measured}`.match(/\d[\d,]*(?:\.\d+)?/g) ?? [];
    const stands = (number: string) =>
      pages.some((text) => new RegExp(`(?<![\\d.,])${number.replaceAll('.', '\\.')}(?![\\d]|[.,]\\d)`).test(text));
    return numbers.filter((number) => !stands(number)).map((number) => `${links}: ${number}`);
  });
  expect(missing).toEqual([]);
});
