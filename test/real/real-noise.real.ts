import { describe, expect, it } from 'vitest';
import { LABELS } from '../../examples/classify/classify-env.ts';
import {
  type Proposal,
  proposeExamples,
  proposeRemark,
  proposeWrongLabels,
  REMARKS,
} from '../../examples/classify/proposals.ts';
import { addObservations, calibrate, noEvidence } from '../../src/public/stats.ts';
import { mean, percent, points, report } from './figures.ts';
import { chat, steady, test, train, val, whyMissing } from './real-task.ts';
import { type DuelTally, type Gate, repeatDuel } from './repeat-duel.ts';
import { meanScore, passes, trueScore } from './rollouts.ts';

it('has splits that share no message and hold every label equally often', () => {
  const all = [...train, ...val, ...test];
  expect(new Set(all.map(({ text }) => text)).size).toBe(all.length);
  for (const split of [train, val, test]) {
    const counts = LABELS.map((label) => split.filter((message) => message.label === label).length);
    expect(new Set(counts).size).toBe(1);
  }
});

describe.skipIf(whyMissing !== undefined)(`a real model${whyMissing ? ` (${whyMissing})` : ''}`, () => {
  it('gives the same draw for the same sample index, and others for others', async () => {
    const first = await passes(chat, '', val, { from: 0, count: 1 });
    expect(await passes(chat, '', val, { from: 0, count: 1 })).toEqual(first);
    expect(await passes(chat, '', val, { from: 1, count: 1 })).not.toEqual(first);
  });

  it('calibrates: two passes of one skill tell the noise that two hundred show', async () => {
    const lines: string[] = [];
    for (const [name, skill] of Object.entries({ 'the empty skill': '', 'one example per label': steady })) {
      const two = calibrate(addObservations(noEvidence, await passes(chat, skill, val, { from: 0, count: 2 })));
      const many: number[] = [];
      for (let from = 500; from < 700; from++) many.push(meanScore(await passes(chat, skill, val, { from, count: 1 })));
      const seen = deviation(many);
      const truth = await trueScore(chat, skill, val);
      lines.push(
        `${name}: true score ${percent(truth)}, two passes say ${percent(two.score!)};`,
        `noise floor of one pass ${points(two.noiseFloor)} points, 200 passes show ${points(seen)};`,
        `smallest gain that can be proven ${points(two.smallestGain)} points;`,
        `to prove 5 / 10 points: ${two.needs.map(({ items }) => items).join(' / ')} items;`,
        `flakiest: ${two.flakiest.map(({ id }) => id).join(', ')}${two.warning ? `; ${two.warning}` : ''}`,
        '',
      );
      expect(two.noiseFloor).toBeGreaterThan(0.6 * seen);
      expect(two.noiseFloor).toBeLessThan(1.6 * seen);
    }
    report('A/A calibration', lines);
  });

  it('accepts fewer useless remarks than the strict gate does on the same draws', async () => {
    const tallies = await duelAll(REMARKS.map(proposeRemark));
    report('Useless remarks', duelLines(tallies));
    expect(decisionsOf(tallies)).toBeGreaterThanOrEqual(150);
    expect(acceptShare(tallies, 'ours')).toBeLessThan(acceptShare(tallies, 'strict') / 2);
  });

  it('tells more examples from wrong ones', async () => {
    const useful = await duelAll([1, 2, 3, 4].map((turn) => proposeExamples(train, turn)));
    const harmful = await duelAll([5, 6, 7].map((turn) => proposeWrongLabels(train, turn)));
    report('More examples', duelLines(useful));
    report('Wrong examples', duelLines(harmful));
    expect(acceptShare(harmful, 'ours')).toBeLessThanOrEqual(acceptShare(harmful, 'strict'));
    expect(acceptShare(useful, 'ours')).toBeGreaterThan(acceptShare(harmful, 'ours'));
  });
});

async function duelAll(proposals: readonly Proposal[]): Promise<DuelTally[]> {
  const tallies: DuelTally[] = [];
  for (const [place, proposal] of proposals.entries()) {
    tallies.push(await repeatDuel({ chat, items: val, incumbent: steady, proposal, place }));
  }
  return tallies;
}

const decisionsOf = (tallies: readonly DuelTally[]) => tallies.reduce((sum, { decisions }) => sum + decisions, 0);

function acceptShare(tallies: readonly DuelTally[], gate: Gate): number {
  return tallies.reduce((sum, tally) => sum + tally[gate].accepted, 0) / decisionsOf(tallies);
}

function duelLines(tallies: readonly DuelTally[]): string[] {
  const each = (gate: Gate) => tallies.reduce((sum, tally) => sum + tally[gate].rollouts, 0) / decisionsOf(tallies);
  const words = (gate: Gate) => `${percent(acceptShare(tallies, gate))} with ${each(gate).toFixed(1)} rollouts each`;
  return [
    `${decisionsOf(tallies)} decisions. Accepted by our gate: ${words('ours')}; by the strict gate: ${words('strict')}.`,
    '',
    '| edit | true change, points | ours accepts | strict accepts | decisions |',
    '|---|---|---|---|---|',
    ...tallies.map(
      ({ name, trueChange, decisions, ours, strict }) =>
        `| ${name} | ${points(trueChange)} | ${ours.accepted} | ${strict.accepted} | ${decisions} |`,
    ),
  ];
}

function deviation(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1));
}
