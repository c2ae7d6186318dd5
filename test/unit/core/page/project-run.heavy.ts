import pc from 'picocolors';
import type { RunEvent } from 'skillopt';
import { describe, expect, it } from 'vitest';
import {
  changeOfPage,
  changePage,
  gridColumns,
  noView,
  projectRun,
  type RunPage,
  runFigures,
  taskRows,
  unpackCell,
} from '../../../../src/core/page/index.ts';
import { emptyRun, reduce, summarize, verdictOf } from '../../../../src/core/run/index.ts';
import { growing } from '../../../../src/core/text/index.ts';
import { eventLines } from '../../../../src/report/index.ts';
import { randomRun } from '../../../support/page/random-runs.ts';

const RUNS = 200;
const runs = await Promise.all(Array.from({ length: RUNS }, (_, seed) => randomRun(seed)));
const viewOf = (events: readonly RunEvent[]) => events.reduce(projectRun, noView);
const words = { head: '', sentence: '', amounts: '', chosenBy: null, next: { command: '', why: '' } };
const pageOf = (events: readonly RunEvent[]): RunPage => {
  const view = viewOf(events);
  return { name: 'x', lines: view.lines, isRunning: false, words, figures: runFigures(view) };
};

describe(`${RUNS} random runs`, () => {
  it('are of every kind', () => {
    const kinds = new Set(runs.flatMap((events) => events.map(({ type }) => type)));
    const made = new Set(runs.flatMap((events) => viewOf(events).versions.map(({ kind }) => kind)));
    const fates = new Set(runs.flatMap((events) => viewOf(events).versions.map(({ fate }) => fate)));
    expect([...kinds].sort()).toEqual(
      expect.arrayContaining(['prune-end', 'removal-end', 'salvage-end', 'slow-update-end']),
    );
    expect([...made].sort()).toEqual(['candidate', 'guidance', 'initial', 'part', 'pruned', 'shorter']);
    expect([...fates].sort()).toEqual(
      expect.arrayContaining(['accepted', 'pending', 'rejected', 'start', 'undecided']),
    );
  });

  it('have the state, the summary and the verdict of the journal', () => {
    for (const events of runs) {
      const state = events.reduce(reduce, emptyRun);
      const view = viewOf(events);
      expect(view.state).toEqual(state);
      const { verdict, summary } = runFigures(view);
      const { bestSkill: _bestSkill, ...expected } = summarize(state);
      expect({ verdict, summary }).toEqual({ verdict: verdictOf(state), summary: expected });
    }
  });

  it('have the scores of taken candidates that the terminal shows', () => {
    let compared = 0;
    for (const events of runs) {
      const told = new Map<number, string>();
      events.reduce((before, event) => {
        const after = reduce(before, event);
        const style = { width: 200, colors: pc.createColors(false) };
        const lines = event.type === 'step-end' ? eventLines(event, { before, after }, style).join('\n') : '';
        const scores = /step +\d+ .*?([\d.]+) → +([\d.]+) %/.exec(lines);
        if (scores && event.type === 'step-end') told.set(event.step, `${scores[1]} → ${scores[2]}`);
        return after;
      }, emptyRun);
      const bare = (score: number | null) => (100 * (score ?? Number.NaN)).toFixed(1);
      for (const { kind, fate, step, score, scoreBefore } of viewOf(events).versions) {
        if (kind !== 'candidate' || fate !== 'accepted' || !told.has(step)) continue;
        expect(`${bare(scoreBefore)} → ${bare(score)}`).toBe(told.get(step));
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(RUNS);
  });

  it('fold in place to what they fold to by copies, and leave alone what was there before', () => {
    for (const events of runs) {
      const half = Math.floor(events.length / 2);
      const known = viewOf(events.slice(0, half));
      const before = structuredClone(known);
      const whole = events.slice(half).reduce(growing(projectRun), known);
      expect(JSON.stringify(whole)).toBe(JSON.stringify(viewOf(events)));
      expect(events.reduce(growing(projectRun), noView)).toEqual(whole);
      expect(known).toEqual(before);
      expect(noView.state).toEqual(emptyRun);
    }
  });

  it('name the current and the best skill among their versions', () => {
    for (const events of runs) {
      const { versions, current, best, state } = viewOf(events);
      expect([versions[current]!.skill, versions[best]!.skill]).toEqual([state.current.skill, state.best.skill]);
    }
  });

  it('have a point for each step, and versions whose parents came before them', () => {
    for (const events of runs) {
      const { curve, versions, state } = viewOf(events);
      expect(curve.map(({ step, best }) => [step, best])).toEqual(
        state.history.map(({ step, bestScore }) => [step, bestScore]),
      );
      for (const { index, parent } of versions) expect(parent ?? -1).toBeLessThan(index);
    }
  });

  it('name as worse and better what their verdict names', () => {
    for (const events of runs) {
      const { verdict, changed } = runFigures(viewOf(events));
      if (!verdict.comparison?.gain) continue;
      const { gained, lost } = verdict.comparison;
      expect([changed.better, changed.worse].map((list) => list.map(({ id }) => id))).toEqual([gained, lost]);
    }
  });

  it('count every attempt of the journal once in the grid', () => {
    for (const events of runs) {
      const view = viewOf(events);
      const columns = gridColumns(
        view,
        view.versions.map(({ index }) => index),
      );
      const rows = taskRows(view);
      const inGrid = (task: number) =>
        columns.reduce((sum, column) => sum + (unpackCell(column, task)?.attempts ?? 0), 0);
      expect(rows.map(({ index }) => inGrid(index))).toEqual(rows.map(({ attempts }) => attempts));
      const once = view.attempts.filter(({ sameAs }) => sameAs === undefined);
      const inLists = once.reduce((sum, { marks }) => sum + marks.length, 0);
      expect(rows.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(inLists);
    }
  });

  it('show a step that was taken again once', () => {
    for (const events of runs) {
      const start = events.findLastIndex(({ type }) => type === 'step-start');
      const cut = events.findLastIndex((event) => event.type === 'stage-end' && event.stage === 'evaluate') + 1;
      if (start === -1 || cut <= start) continue;
      const again = [...events.slice(0, cut), ...events.slice(start)];
      const shown = (view: ReturnType<typeof viewOf>) => [
        view.versions.map(({ hash }) => hash),
        view.current,
        view.best,
      ];
      expect(shown(viewOf(again))).toEqual(shown(viewOf(events)));
    }
  });

  it('can be sent as changes from any line to any other', () => {
    for (const events of runs.slice(0, 60)) {
      const cut = Math.floor(events.length / 2);
      const [before, after] = [pageOf(events.slice(0, cut)), pageOf(events)];
      const sent = JSON.parse(JSON.stringify(changeOfPage(before, after)));
      expect(changePage(JSON.parse(JSON.stringify(before)), sent)).toEqual(JSON.parse(JSON.stringify(after)));
    }
  });
});
