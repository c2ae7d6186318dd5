import { rmSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { bigApp } from '../test/support/page/big-app.ts';
import { BUILT, buildPage, countNodes, openBrowser, serveApp } from '../test/support/page/browser.ts';
import { demoFolder, trainDemo } from '../test/support/page/demo-run.ts';
import { pageOf, readServed } from '../test/support/page/page-app.ts';
import { type BenchRow, type Measured, median } from './row.ts';

const BIG = { steps: 1_000, tasks: 10_000, events: 16_002 };
const VIEW = { mostMs: 1_000, mostTaskMs: 200, tries: 5 };
const SCROLL = { frames: 120, mostMs: 16 };
const SIZE = { mostNodes: 500, mostMb: 100 };

/** What each screen shows as soon as it is of use. */
const FIRST = { '': '.row.version', '/tasks': '.row.task' } as const;

/** Written into every page before its own script: its long tasks, and when each sign was there, since it was opened. */
const WATCH = `
  window.longTasks = [];
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true });
  window.shownAt = {};
  const look = () => {
    for (const sign of ${JSON.stringify(Object.values(FIRST))})
      if (!(sign in shownAt) && document.querySelector(sign)) shownAt[sign] = performance.now();
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);`;

type Opened = { readonly open: (path: string) => Promise<Page> };

/** A browser, and a server that answers at once: what is measured is the page alone. */
async function withBig(measure: (opened: Opened) => Promise<Measured>): Promise<Measured> {
  await buildPage();
  const folder = demoFolder();
  try {
    await trainDemo(folder);
    const small = pageOf(await readServed(folder, 'demo'));
    await using served = await serveApp(bigApp(small, BIG, BUILT));
    await using browser = await openBrowser();
    const open = async (path: string) => {
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
      await page.addInitScript(WATCH);
      await page.goto(`${served.url}#/runs/big${path}`);
      return page;
    };
    return await measure({ open });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const firstView: BenchRow = {
  name: 'page-browser',
  what: `first useful view of ${BIG.steps} steps, and of ${BIG.tasks} tasks, median of ${VIEW.tries}`,
  goal: `≤ ${VIEW.mostMs} ms; no task over ${VIEW.mostTaskMs} ms`,
  run: (say) =>
    withBig(async ({ open }) => {
      const [views, longest]: [number[], number[]] = [[], []];
      for (const [path, sign] of Object.entries(FIRST)) {
        const [times, tasks]: [number[], number[]] = [[], []];
        for (let count = 0; count < VIEW.tries; count += 1) {
          const page = await open(path);
          await page.waitForSelector(sign);
          times.push(await page.evaluate<number>(`shownAt['${sign}'] ?? performance.now()`));
          await page.waitForTimeout(500); // what the page does after it can be read counts too
          tasks.push(await page.evaluate<number>('Math.max(0, ...longTasks)'));
          await page.close();
        }
        say(
          `${path || 'overview'}: ${times.map(Math.round).join(', ')} ms; tasks up to ${Math.round(Math.max(...tasks))} ms`,
        );
        views.push(median(times));
        longest.push(median(tasks));
      }
      const [steps, tasks] = views.map(Math.round);
      const task = Math.round(Math.max(...longest));
      const holds = Math.max(...views) <= VIEW.mostMs && task <= VIEW.mostTaskMs;
      return { measured: `${steps} ms, ${tasks} ms; longest task ${task} ms`, holds, figures: { views, longest } };
    }),
};

/** Scrolls a little in every frame, down and to the right, and answers the times between frames. */
const SCROLLING = `new Promise((done) => {
  const grid = document.querySelector('.grid');
  const times = [];
  let before = performance.now();
  const frame = (now) => {
    times.push(now - before);
    before = now;
    if (times.length > ${SCROLL.frames}) return done(times.slice(1));
    grid.scrollBy(40, 480);
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})`;

const gridScroll: BenchRow = {
  name: 'page-browser',
  what: `a frame of a scroll in ${BIG.tasks} tasks × ${BIG.steps} versions`,
  goal: `≤ ${SCROLL.mostMs} ms of work`,
  run: () =>
    withBig(async ({ open }) => {
      const page = await open('/tasks');
      await page.waitForSelector(FIRST['/tasks']);
      await page.waitForTimeout(500);
      const workMs = await workOf(page);
      const [before, frames] = [await workMs(), await page.evaluate<number[]>(SCROLLING)];
      const work = ((await workMs()) - before) / frames.length;
      const [middle, slowest] = [median(frames), frames.sort((a, b) => a - b)[Math.floor(frames.length * 0.95)]!];
      const measured = `${work.toFixed(1)} ms; a frame each ${middle.toFixed(1)} ms, 95 % within ${slowest.toFixed(1)} ms`;
      return { measured, holds: work <= SCROLL.mostMs, figures: { work, middle, slowest } };
    }),
};

/** The work of the main thread so far: scripts, styles, layout and drawing. */
async function workOf(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * metrics.find(({ name }) => name === 'TaskDuration')!.value;
  };
}

const manyEvents: BenchRow = {
  name: 'page-browser',
  what: `the page of a run with ${BIG.events} events, scrolled to its end`,
  goal: `≤ ${SIZE.mostNodes} nodes; ≤ ${SIZE.mostMb} MB of heap`,
  run: () =>
    withBig(async ({ open }) => {
      const page = await open('/events');
      await page.waitForSelector('.row.event');
      const nodes: number[] = [];
      for (const share of [0, 0.25, 0.5, 0.75, 1]) {
        await page.evaluate(
          `{ const list = document.querySelector('.list'); list.scrollTo(0, ${share} * list.scrollHeight) }`,
        );
        await page.waitForTimeout(300);
        nodes.push(await countNodes(page));
      }
      const session = await page.context().newCDPSession(page);
      await session.send('HeapProfiler.collectGarbage');
      const { usedSize } = await session.send('Runtime.getHeapUsage');
      const [most, mb] = [Math.max(...nodes), usedSize / 1e6];
      const holds = most <= SIZE.mostNodes && mb <= SIZE.mostMb;
      return { measured: `${most} nodes; ${mb.toFixed(1)} MB`, holds, figures: { nodes, mb } };
    }),
};

export const pageBrowser: readonly BenchRow[] = [firstView, gridScroll, manyEvents];
