import { readFileSync } from 'node:fs';
import {
  defineEnv,
  emptyRun,
  memoryRun,
  type RunEvent,
  reduce,
  type SkillOptConfigInput,
  SkillOptTrainer,
  summarize,
  toFact,
} from 'skillopt';
import { scripted } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { detailViews, isCheckpoint, journalLines, STAGES } from '../../src/core/run/index.ts';
import { eventLines } from '../../src/report/index.ts';
import { noColors } from '../../src/report/layout.ts';
import { WHOLE } from '../support/strict-gate.ts';

const readGolden = (name: string): RunEvent[] =>
  readFileSync(new URL(name, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/**
 * Journals of the run below: as it was before epochs had ends, and with the whole optimizer. Both must fold for ever:
 * change the code, never these lines. A later format gets a journal of its own beside these.
 */
const golden = readGolden('journal-v1.jsonl');
const goldenWhole = readGolden('journal-v1-whole.jsonl');

const twoItems = (split: string) => ['3', '4'].map((answer, index) => ({ id: `${split}-${index + 1}`, answer }));
const env = defineEnv({
  name: 'sums',
  version: '1',
  schema: z.object({ id: z.string(), answer: z.string() }),
  items: { train: twoItems('train'), val: twoItems('val'), test: twoItems('test') },
  initialSkill: '# Sums\n',
  taskTypes: ['odd', 'even'],
  async rolloutOne({ item, skill, target }) {
    const { text } = await target.complete({ messages: [{ role: 'system', content: skill }] });
    const hard = text.includes(item.answer) ? 1 : 0;
    return { hard, soft: hard, taskType: item.answer === '3' ? 'odd' : 'even' };
  },
});

const target = scripted('target', ({ messages }) => (messages[0]!.content.includes('Add.') ? '3 4' : '3'));
const optimizer = scripted('optimizer', ({ messages: [system] }) => {
  const edits = ['Add.', 'Say the number alone.'].map((content) => ({ op: 'append', content }));
  if (system!.content.includes('selected_indices')) return '{"reasoning": "first", "selected_indices": [0]}';
  if (system!.content.includes('support_count')) return JSON.stringify({ reasoning: 'both', edits });
  const own = system!.content.includes('failure_summary') ? edits[0] : edits[1];
  return JSON.stringify({ patch: { reasoning: 'why', edits: [own] } });
});

/** What the code writes today. */
async function journalOfToday(gate: SkillOptConfigInput = WHOLE): Promise<readonly RunEvent[]> {
  const store = memoryRun();
  const sizes = { numEpochs: 2, batchSize: 2, minibatchSize: 2, mergeBatchSize: 2, editBudget: 1, minEditBudget: 1 };
  await new SkillOptTrainer({ config: { ...sizes, ...gate }, env, target, optimizer, store }).train();
  return store.events;
}

const nameOf = (event: RunEvent) => (event.type === 'stage-end' ? `${event.type} ${event.stage}` : event.type);

describe('the journal, format 1', () => {
  it('has these events, each with these keys', async () => {
    const rows = (await journalOfToday()).map((event) => [nameOf(event), Object.keys(event).join(' ')]);
    expect(Object.fromEntries(rows)).toEqual({
      'run-start': 'type format identity config env target optimizer initialSkill totalSteps items at ms usage',
      'baseline-end': 'type evaluation score at ms usage',
      'step-start': 'type step epoch stepInEpoch editBudget seed itemIds at ms usage',
      'stage-end rollout': 'type step stage evaluation at ms usage',
      'stage-end reflect': 'type step stage patches failurePatterns at ms usage answers',
      'stage-end aggregate': 'type step stage patch at ms usage',
      'stage-end select': 'type step stage patch at ms usage',
      'stage-end update': 'type step stage candidateSkill report candidateHash at ms usage',
      'stage-end evaluate': 'type step stage evaluation score action at ms usage',
      'step-end': 'type step action at ms usage',
      'slow-update-end':
        'type epoch content reasoning candidateSkill candidateHash evaluation score action pairs prevHard currHard at ms usage answers',
      'epoch-end': 'type epoch at ms usage',
      'final-selection-end': 'type evaluation score isPromoted at ms usage',
      'test-look': 'type looks tasks at ms usage',
      'test-end': 'type subject evaluation taskTypes at ms usage',
      'run-end': 'type at ms usage',
    });
    expect(STAGES).toEqual(['rollout', 'reflect', 'aggregate', 'select', 'update', 'evaluate']);
  });

  it('has more keys under the gate that knows noise', async () => {
    const rows = (await journalOfToday({})).map((event) => [nameOf(event), Object.keys(event).join(' ')]);
    // The first of each name: a later step may have had nothing to decide.
    expect(Object.fromEntries(rows.reverse())).toMatchObject({
      'baseline-end': 'type evaluation score passes at ms usage',
      'stage-end evaluate': 'type step stage evaluation score action isPartial decision at ms usage',
      'final-measurement-end': 'type hash passes score gain isSeedBetter isClaimed confidence at ms usage',
    });
  });

  it('is written today as it was written then', async () => {
    const [start, ...facts] = (await journalOfToday()).map(toFact);
    const today = facts.filter(({ type }) => type !== 'test-look'); // the golden run is older
    const [then, ...before] = goldenWhole.map(toFact);
    expect(start).toMatchObject({ ...then, identity: {}, config: {} });
    expect(JSON.parse(JSON.stringify(today))).toEqual(before);
  });

  it('is read for ever from lines that name tasks once and have checks', async () => {
    const lines = readFileSync(new URL('journal-checked.jsonl', import.meta.url), 'utf8')
      .trimEnd()
      .split('\n');
    const { read } = journalLines();
    const facts = lines.map((line) => toFact(read(line)));
    const today = (await journalOfToday()).map(toFact);
    expect(facts.slice(1)).toEqual(JSON.parse(JSON.stringify(today.slice(1))));
    const { write } = journalLines();
    const again = journalLines();
    expect(lines.map((line) => write(again.read(line)))).toEqual(lines);
  });

  it('folds to what the run came to', () => {
    const state = golden.reduce(reduce, emptyRun);
    expect([state.current.skill, state.best.skill]).toEqual(['# Sums\n\nAdd.\n', '# Sums\n\nAdd.\n']);
    expect(state.history).toMatchInlineSnapshot(`
      [
        {
          "accumulationBatches": [
            {
              "batchIdx": 0,
              "batchSeed": 1043,
              "hard": 0.5,
              "nEnvs": 2,
              "nFailurePatches": 1,
              "nSuccessPatches": 1,
              "soft": 0.5,
            },
          ],
          "action": "accept_new_best",
          "analystCounts": [
            1,
          ],
          "bestOrigin": "step_0001",
          "bestScore": 1,
          "bestStep": 1,
          "candidateGateScore": 1,
          "candidateHash": "787d4f27b4c2a090",
          "candidateSkillLen": 13,
          "currentOrigin": "step_0001",
          "currentScore": 1,
          "editBudget": 1,
          "editEffects": [
            {
              "gain": 0.5,
              "measuredBy": "own_step",
              "tasks": 2,
            },
          ],
          "editStatuses": [
            "applied_append",
          ],
          "edits": [
            {
              "content": "Add.",
              "op": "append",
              "target": "",
            },
          ],
          "epoch": 1,
          "nEditsMerged": 2,
          "nEditsRanked": 1,
          "nFailurePatches": 1,
          "nPatches": 2,
          "nSuccessPatches": 1,
          "rolloutHard": 0.5,
          "rolloutN": 2,
          "rolloutSoft": 0.5,
          "scoreBefore": 0.5,
          "selectionHard": 1,
          "selectionSoft": 1,
          "skillLen": 13,
          "step": 1,
          "stepInEpoch": 1,
          "supportCounts": [
            1,
          ],
          "timing": {
            "aggregate": 10,
            "evaluate": 10,
            "reflect": 10,
            "rollout": 10,
            "select": 10,
            "update": 10,
          },
          "tokens": {
            "analyst": {
              "cacheHits": 0,
              "cached": 0,
              "costUsd": 0,
              "input": 1025,
              "output": 41,
              "reasoning": 0,
              "replies": 2,
              "retries": 0,
              "unpriced": 0,
              "waitMs": 0,
            },
            "merge": {
              "cacheHits": 0,
              "cached": 0,
              "costUsd": 0,
              "input": 432,
              "output": 33,
              "reasoning": 0,
              "replies": 1,
              "retries": 0,
              "unpriced": 0,
              "waitMs": 0,
            },
            "ranking": {
              "cacheHits": 0,
              "cached": 0,
              "costUsd": 0,
              "input": 314,
              "output": 11,
              "reasoning": 0,
              "replies": 1,
              "retries": 0,
              "unpriced": 0,
              "waitMs": 0,
            },
            "rollout": {
              "cacheHits": 0,
              "cached": 0,
              "costUsd": 0,
              "input": 18,
              "output": 4,
              "reasoning": 0,
              "replies": 4,
              "retries": 0,
              "unpriced": 0,
              "waitMs": 0,
            },
          },
          "wallTimeS": 0.06,
        },
        {
          "accumulationBatches": [
            {
              "batchIdx": 0,
              "batchSeed": 2043,
              "hard": 1,
              "nEnvs": 2,
              "nFailurePatches": 0,
              "nSuccessPatches": 1,
              "soft": 1,
            },
          ],
          "action": "reject",
          "analystCounts": [
            1,
          ],
          "bestOrigin": "step_0001",
          "bestScore": 1,
          "bestStep": 1,
          "candidateGateScore": 1,
          "candidateHash": "5f20a47d8611ce6e",
          "candidateSkillLen": 36,
          "currentOrigin": "step_0001",
          "currentScore": 1,
          "editBudget": 1,
          "editStatuses": [
            "applied_append",
          ],
          "edits": [
            {
              "content": "Say the number alone.",
              "op": "append",
              "target": "",
            },
          ],
          "epoch": 2,
          "nEditsMerged": 1,
          "nEditsRanked": 1,
          "nFailurePatches": 0,
          "nPatches": 1,
          "nSuccessPatches": 1,
          "rolloutHard": 1,
          "rolloutN": 2,
          "rolloutSoft": 1,
          "scoreBefore": 1,
          "selectionHard": 1,
          "selectionSoft": 1,
          "skillLen": 13,
          "step": 2,
          "stepInEpoch": 1,
          "supportCounts": [
            2,
          ],
          "timing": {
            "aggregate": 10,
            "evaluate": 10,
            "reflect": 10,
            "rollout": 10,
            "select": 10,
            "update": 10,
          },
          "tokens": {
            "analyst": {
              "cacheHits": 0,
              "cached": 0,
              "costUsd": 0,
              "input": 485,
              "output": 23,
              "reasoning": 0,
              "replies": 1,
              "retries": 0,
              "unpriced": 0,
              "waitMs": 0,
            },
            "rollout": {
              "cacheHits": 0,
              "cached": 0,
              "costUsd": 0,
              "input": 32,
              "output": 4,
              "reasoning": 0,
              "replies": 4,
              "retries": 0,
              "unpriced": 0,
              "waitMs": 0,
            },
          },
          "wallTimeS": 0.06,
        },
      ]
    `);
    expect(summarize(state, { outRoot: 'runs/sums' })).toMatchInlineSnapshot(`
      {
        "acceptedEdits": [
          {
            "contentPreview": "Add.",
            "gain": 0.5,
            "measuredBy": "own_step",
            "op": "append",
            "step": 1,
            "target": "",
            "tasks": 2,
          },
        ],
        "attemptsThrown": 0,
        "baselineSelectionHard": 0.5,
        "baselineSelectionScore": 0.5,
        "baselineTestHard": 0.5,
        "baselineTestSoft": 0.5,
        "bestOrigin": "step_0001",
        "bestSelectionHard": 1,
        "bestSelectionScore": 1,
        "bestSkill": "# Sums

      Add.
      ",
        "bestStep": 1,
        "currentOrigin": "step_0001",
        "currentSelectionScore": 1,
        "epochStats": [
          {
            "accepts": 1,
            "bestScoreAtEpochEnd": 1,
            "currentScoreAtEpochEnd": 1,
            "epoch": 1,
            "rejects": 0,
            "skips": 0,
            "steps": 1,
          },
          {
            "accepts": 0,
            "bestScoreAtEpochEnd": 1,
            "currentScoreAtEpochEnd": 1,
            "epoch": 2,
            "rejects": 1,
            "skips": 0,
            "steps": 1,
          },
        ],
        "finalGain": null,
        "finalScore": null,
        "finalSelectionHard": null,
        "finalSelectionSoft": null,
        "finalTestDeltaHard": null,
        "finalTestHard": null,
        "finalTestSoft": null,
        "isDone": true,
        "isProven": null,
        "memorisedShare": null,
        "optimizerReplies": {},
        "outRoot": "runs/sums",
        "stepsDone": 2,
        "testDeltaHard": 0.5,
        "testHard": 1,
        "testLooks": null,
        "testSoft": 1,
        "tests": {
          "baseline": {
            "buckets": {
              "even": {
                "hard": 0,
                "soft": 0,
                "total": 1,
              },
              "odd": {
                "hard": 1,
                "soft": 1,
                "total": 1,
              },
              "overall": {
                "hard": 0.5,
                "soft": 0.5,
                "total": 2,
              },
            },
            "hard": 0.5,
            "n": 2,
            "soft": 0.5,
          },
          "best": {
            "buckets": {
              "even": {
                "hard": 1,
                "soft": 1,
                "total": 1,
              },
              "odd": {
                "hard": 1,
                "soft": 1,
                "total": 1,
              },
              "overall": {
                "hard": 1,
                "soft": 1,
                "total": 2,
              },
            },
            "hard": 1,
            "n": 2,
            "soft": 1,
          },
        },
        "tokenSummary": {
          "analyst": {
            "cacheHits": 0,
            "cached": 0,
            "costUsd": 0,
            "input": 1510,
            "output": 64,
            "reasoning": 0,
            "replies": 3,
            "retries": 0,
            "unpriced": 0,
            "waitMs": 0,
          },
          "merge": {
            "cacheHits": 0,
            "cached": 0,
            "costUsd": 0,
            "input": 432,
            "output": 33,
            "reasoning": 0,
            "replies": 1,
            "retries": 0,
            "unpriced": 0,
            "waitMs": 0,
          },
          "ranking": {
            "cacheHits": 0,
            "cached": 0,
            "costUsd": 0,
            "input": 314,
            "output": 11,
            "reasoning": 0,
            "replies": 1,
            "retries": 0,
            "unpriced": 0,
            "waitMs": 0,
          },
          "rollout": {
            "cacheHits": 0,
            "cached": 0,
            "costUsd": 0,
            "input": 74,
            "output": 14,
            "reasoning": 0,
            "replies": 14,
            "retries": 0,
            "unpriced": 0,
            "waitMs": 0,
          },
        },
        "totalAccepts": 1,
        "totalRejects": 1,
        "totalSkips": 0,
        "totalSteps": 2,
        "totalWallTimeS": 0.21,
        "version": "skillopt-0.1.0",
        "warnings": [],
      }
    `);
  });
});

describe('a kind of event that no other code knows', () => {
  const scores = ['a', 'b'].map((id) => ({ id, hard: 1, soft: 1 }));
  const stamp = { at: '2030-01-01T00:00:00.000Z', ms: 5, usage: {} };
  const unknown = { type: 'dream-end', evaluation: { hard: 1, soft: 1, scores }, ...stamp } as unknown as RunEvent;

  it('is written and read with its lists packed, and later lines are read after it', () => {
    const [first, ...others] = golden;
    const events = [first!, unknown, ...others, unknown];
    const [writer, reader] = [journalLines(), journalLines()];
    const lines = events.map((event) => writer.write(event));
    expect(JSON.parse(lines[1]!).evaluation.scores).toMatchObject({ marks: [{ hard: 1, soft: 1 }] });
    expect(lines.map((line) => reader.read(line))).toEqual(events);
  });

  it('counts its scores as attempts, and changes nothing else of the state', () => {
    const before = golden.reduce(reduce, emptyRun);
    const { rollouts, wallTimeMs } = before;
    expect(reduce(before, unknown)).toEqual({ ...before, rollouts: rollouts + 2, wallTimeMs: wallTimeMs + 5 });
  });

  it('has no file and no line of its own, and is a checkpoint unless it happens within a step', () => {
    expect(detailViews(unknown, {})).toEqual({});
    expect([unknown, { ...unknown, step: 1 } as RunEvent].map(isCheckpoint)).toEqual([true, false]);
    const options = { width: 80, colors: noColors };
    expect(eventLines(unknown, { before: emptyRun, after: emptyRun }, options)).toEqual([]);
  });
});
