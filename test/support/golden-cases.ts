import { readFileSync } from 'node:fs';

/** What the scorers of a benchmark answered to inputs that we wrote. */
export const goldenCases = <Case>(name: string): Case[] =>
  JSON.parse(readFileSync(new URL(`../fixtures/benchmarks/${name}.json`, import.meta.url), 'utf8')).cases;
