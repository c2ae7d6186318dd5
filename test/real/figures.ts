import { mkdirSync, writeFileSync } from 'node:fs';
import type { Estimate } from '../../src/core/stats/index.ts';

const sections: string[] = [];

/** Adds lines to the figures of this run, in `.cache/local-model/figures.md`. */
export function report(title: string, lines: readonly string[]): void {
  sections.push(`## ${title}\n\n${lines.join('\n')}\n`);
  mkdirSync('.cache/local-model', { recursive: true });
  writeFileSync('.cache/local-model/figures.md', sections.join('\n'));
}

export const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

export const points = (share: number) => `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)}`;

export const withInterval = ({ value, interval }: Estimate) =>
  `${points(value)} points (${points(interval.low)} to ${points(interval.high)})`;
