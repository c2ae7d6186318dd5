import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reportMarkdown, type SleepReport } from '../../../../src/report/index.ts';
import { SleepSettings } from '../../../../src/sleep/index.ts';
import { runCycle } from '../../../../src/sleep/night/run-cycle.ts';
import { nightWorld } from './night-world.ts';

/** What a night reported whose held-out task, name and quarantined edit say this. */
function reportOf(words: string): SleepReport {
  const trial = {
    ...{
      target: 'skill' as const,
      named: '',
      baselineScore: 0,
      candidateScore: 1,
      accepted: true,
      blockedByRegression: false,
    },
    ...{ pValue: 0.01, error: 0.05, passes: 8 },
    taskDeltas: [{ id: 't1', before: 0, after: 1, status: 'improved' as const }],
  };
  return {
    ...{ night: 1, project: '/p', startedAt: '2026-03-10T02:00:00Z', endedAt: '2026-03-10T02:04:00Z' },
    ...{ nSessions: 3, nTasks: 9, nReplayed: 9, withTools: null, notReplayable: 0, pooled: 0, holdoutLeaked: false },
    recurring: [{ intent: words, sessions: 3, days: 2 }],
    ...{
      baselineScore: 0,
      candidateScore: 1,
      accepted: true,
      gateAction: 'accept_new_best',
      noEditsReason: '',
      needs: '',
    },
    ...{ edits: [], rejectedEdits: [], unmatchedEdits: [], calls: 9, tokensUsed: 900, usage: {}, notes: [words] },
    untrained: [],
    quarantined: [{ content: words, reason: 'it tells the agent to run something' }],
    documents: [
      {
        ...{ kind: 'skill', name: words, path: `/p/${words}`, isStaged: true, before: '', after: `- ${words}` },
        ...{ gain: { value: 0.5, low: 0.2, high: 0.8 }, test: null },
        ...{ verdict: words, calls: 9, tokensUsed: 900, costUsd: 0 },
      },
    ],
    gateTrials: [trial],
    intents: { t1: words },
  };
}

describe('the report of a night', () => {
  it('40: shows signs of Markdown as they are, without backslashes and half entities', () => {
    const page = reportMarkdown(reportOf('a | b # c & *d* \\ `e`'));
    expect(page).toContain("| skill | `a ¦ b # c & *d* \\ 'e'` | 0.0 | 100.0 | improved |");
    expect(page).not.toMatch(/\\[#|*]|&[a-z]*\\?#?\d*;/);
  });

  it('40: for all texts a row of the table is one row of five cells, and nothing ends the fence of the diff', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (words) => {
        const lines = reportMarkdown(reportOf(words)).split('\n');
        const at = lines.indexOf('|---|---|---|---|---|');
        expect(lines[at + 1]!.split('|')).toHaveLength(7);
        expect(lines[at + 2]).toBe('');
        const fences = lines.filter((line) => /^\s*[`~]{3}/.test(line));
        expect(fences).toEqual(['```diff', '```']);
      }),
    );
  });
});

describe('settings that were without effect', () => {
  it('40: the tokens of a night are a limit, which ends it', async () => {
    using world = nightWorld();
    const settings = SleepSettings.parse({ maxTokensPerNight: 500 });
    await expect(runCycle(await world.input({ settings }))).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
    expect((await world.state()).proposals).toEqual([]);
  });

  it('40: a night that proposes nothing has its reason in its report', async () => {
    using world = nightWorld();
    const { report } = await runCycle(await world.input({ tasks: [] }));
    expect(report.noEditsReason).toBe('There is no task to learn from.');
    expect(world.json(`${world.night(1)}/report.json`).noEditsReason).toBe(report.noEditsReason);
  });
});
