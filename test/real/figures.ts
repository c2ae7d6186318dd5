import { mkdirSync, writeFileSync } from 'node:fs';
import type { Estimate } from '../../src/public/stats.ts';

/** Keeps the figures of this run under their title, in `.cache/local-model/figures`. */
export function report(title: string, lines: readonly string[]): void {
  const folder = '.cache/local-model/figures';
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/${title.toLowerCase().replaceAll(/\W+/g, '-')}.md`, `## ${title}\n\n${lines.join('\n')}\n`);
}

export const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

export const points = (share: number) => `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)}`;

export const withInterval = ({ value, interval }: Estimate) =>
  `${points(value)} points (${points(interval.low)} to ${points(interval.high)})`;

export const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
