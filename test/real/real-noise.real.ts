import { applyEdit } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { classifyEnv, LABELS } from '../../examples/classify/classify-env.ts';
import {
  type Proposal,
  proposeExamples,
  proposeRemark,
  REMARKS,
  scriptedProposals,
} from '../../examples/classify/proposals.ts';
import { addObservations, calibrate, estimateGain, finalReport, noEvidence } from '../../src/core/stats/index.ts';
import { percent, points, report, withInterval } from './figures.ts';
import { getModel } from './get-model.ts';
import { localChat } from './local-chat.ts';
import { type DuelTally, type Gate, nullStream, repeatDuel, type StreamResult } from './null-decisions.ts';
import { meanScore, passes, trueScore } from './rollouts.ts';
import { type Trained, trainSkill } from './train-skill.ts';

const file = await getModel();
const isMissing = file.missing !== undefined;
const chat = localChat({ modelPath: file.missing === undefined ? file.path : '', choices: LABELS, temperature: 0.7 });
const [train, val, test] = await Promise.all(['train', 'val', 'test'].map((split) => classifyEnv.getItems(split)));
const evidenceOf = async (skill: string, items: NonNullable<typeof val>, from: number, count: number) =>
  addObservations(noEvidence, await passes(chat, skill, items, { from, count }));

/** Not the trained skill, so that no other gate moves these figures. */
const steady = applyEdit('', proposeExamples(train!, 0).editFor(''));

let training: Promise<Trained> | undefined;
const trainOnce = () => {
  training ??= trainSkill(chat, val!, scriptedProposals(train!));
  return training;
};

it('has splits that share no message and hold every label equally often', () => {
  const all = [...train!, ...val!, ...test!];
  expect(new Set(all.map(({ text }) => text)).size).toBe(all.length);
  for (const split of [train!, val!, test!]) {
    const counts = LABELS.map((label) => split.filter((message) => message.label === label).length);
    expect(new Set(counts).size).toBe(1);
  }
});

describe.skipIf(isMissing)(`a real model${isMissing ? ` (${file.missing})` : ''}`, () => {
  it('gives the same draw for the same sample index, and others for others', async () => {
    const first = await passes(chat, '', val!, { from: 0, count: 1 });
    expect(await passes(chat, '', val!, { from: 0, count: 1 })).toEqual(first);
    expect(await passes(chat, '', val!, { from: 1, count: 1 })).not.toEqual(first);
  });

  it('calibrates: two passes of one skill tell the noise that two hundred show', async () => {
    const lines: string[] = [];
    for (const [name, skill] of Object.entries({ 'the empty skill': '', 'one example per label': steady })) {
      const two = calibrate(await evidenceOf(skill, val!, 0, 2));
      const many: number[] = [];
      for (let from = 500; from < 700; from++)
        many.push(meanScore(await passes(chat, skill, val!, { from, count: 1 })));
      const seen = deviation(many);
      const truth = await trueScore(chat, skill, val!);
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

  it('trains a skill that beats the empty one on messages it has never seen, with the interval to prove it', async () => {
    const { skill, steps, seed, rollouts, believed } = await trainOnce();
    const final = finalReport({ fresh: await evidenceOf(skill, val!, 900, 2), seed });
    const onTest = estimateGain(await evidenceOf(skill, test!, 0, 3), await evidenceOf('', test!, 0, 3))!;
    const truth = [await trueScore(chat, '', test!), await trueScore(chat, skill, test!)];
    const rows: string[] = [];
    for (const { name, intent, verdict, rollouts: used, incumbent, candidate } of steps) {
      const change = async () =>
        points((await trueScore(chat, candidate, val!)) - (await trueScore(chat, incumbent, val!)));
      rows.push(`| ${name} | ${intent} | ${verdict} | ${used} | ${verdict === 'accept' ? await change() : ''} |`);
    }
    report('A trained skill', [
      `${steps.length} proposals, ${rollouts} rollouts of the search;`,
      `the gate believes ${percent(believed)} on validation, true are ${percent(await trueScore(chat, skill, val!))};`,
      `validation: ${withInterval(final.gain!)}, ${final.isClaimed ? 'claimed' : 'not proven'};`,
      `test, ${test!.length} messages, 3 passes each: ${withInterval(onTest)};`,
      `true test scores ${truth.map(percent).join(' → ')}.`,
      '',
      '| proposal | meant as | verdict | rollouts | true change, points |',
      '|---|---|---|---|---|',
      ...rows,
    ]);
    expect(final.isClaimed).toBe(true);
    expect(onTest.interval.low).toBeGreaterThan(0);
    expect(steps.filter(({ intent, verdict }) => intent === 'harmful' && verdict === 'accept')).toEqual([]);
  });

  it('accepts fewer useless remarks than the strict gate does on the same draws', async () => {
    const tallies = await duelAll(REMARKS.map(proposeRemark));
    report('Useless remarks', duelLines(tallies));
    expect(decisionsOf(tallies)).toBeGreaterThanOrEqual(150);
    expect(acceptShare(tallies, 'standard')).toBeLessThan(acceptShare(tallies, 'strict') / 2);
    expect(acceptShare(tallies, 'patient')).toBeLessThan(acceptShare(tallies, 'strict'));
  });

  it('tells more examples from wrong ones', async () => {
    const proposals = scriptedProposals(train!).slice(0, 12);
    const useful = await duelAll(proposals.filter(({ intent, name }) => intent === 'useful' && name !== 'examples 1'));
    const harmful = await duelAll(proposals.filter(({ intent }) => intent === 'harmful'));
    report('More examples', duelLines(useful));
    report('Wrong examples', duelLines(harmful));
    for (const gate of ['standard', 'patient'] as const) {
      expect(acceptShare(harmful, gate)).toBeLessThanOrEqual(acceptShare(harmful, 'strict'));
      expect(acceptShare(useful, gate)).toBeGreaterThan(acceptShare(harmful, gate));
    }
  });

  it('does not talk itself into a score when nothing changes', async () => {
    const truth = await trueScore(chat, steady, val!);
    const streams: StreamResult[] = [];
    for (let number = 0; number < 40; number++) {
      streams.push(await nullStream({ chat, items: val!, incumbent: steady, number, length: 15 }));
    }
    const sum = (key: keyof StreamResult) => streams.reduce((total, stream) => total + stream[key], 0);
    const strictBias = sum('strictBelieved') / streams.length - truth;
    const bias = sum('believed') / streams.length - truth;
    report('Nothing changes at all', [
      `${streams.length} streams, ${sum('offered')} edits without any effect: default gate accepts`,
      `${percent(sum('accepted') / sum('offered'))} and believes ${points(bias)} points too much at the end of a stream;`,
      `strict gate ${percent(sum('strictAccepted') / sum('offered'))} and ${points(strictBias)} points.`,
    ]);
    expect(sum('accepted')).toBeLessThan(sum('strictAccepted'));
    expect(Math.abs(bias)).toBeLessThan(strictBias);
  });
});

async function duelAll(proposals: readonly Proposal[]): Promise<DuelTally[]> {
  const tallies: DuelTally[] = [];
  for (const [place, proposal] of proposals.entries()) {
    tallies.push(await repeatDuel({ chat, items: val!, incumbent: steady, proposal, place }));
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
    `${decisionsOf(tallies)} decisions. Accepted by the default gate: ${words('standard')};`,
    `by the patient one: ${words('patient')}; by the strict one: ${words('strict')}.`,
    '',
    '| edit | true change, points | default accepts | patient accepts | strict accepts | decisions |',
    '|---|---|---|---|---|---|',
    ...tallies.map(
      ({ name, trueChange, decisions, standard, patient, strict }) =>
        `| ${name} | ${points(trueChange)} | ${standard.accepted} | ${patient.accepted} | ${strict.accepted} | ${decisions} |`,
    ),
  ];
}

function deviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}
