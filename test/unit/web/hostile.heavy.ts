import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveRuns, writeReport } from '../../../src/server/index.ts';
import { isMissing } from '../../support/machine.ts';
import { faultsOf, openBrowser } from '../../support/page/browser.ts';
import { buildPage } from '../../support/page/built-page.ts';
import { copyHostile, PAYLOADS } from '../../support/page/hostile-run.ts';
import { runsFolder, trainSimulated } from '../../support/page/served-runs.ts';

const it = test.skipIf(isMissing('chromium'));

/** A folder may be called anything without a slash. */
const NAMES = PAYLOADS.filter((payload) => !payload.includes('/'));
const RUN = `${NAMES[0]} <img src=x onerror=window.__stolen=1> <svg onload=window.__stolen=1>`;

let [browser, folder]: [Browser, ReturnType<typeof runsFolder>] = [] as never;

beforeAll(async () => {
  await buildPage();
  folder = runsFolder();
  await trainSimulated(join(folder.root, 'plain'));
  await copyHostile(join(folder.root, 'plain'), join(folder.root, 'runs', RUN));
  const start = readFileSync(join(folder.root, 'plain/events.jsonl'), 'utf8').split('\n', 2).join('\n');
  for (const name of NAMES) {
    mkdirSync(join(folder.root, 'names', name), { recursive: true });
    writeFileSync(join(folder.root, 'names', name, 'events.jsonl'), `${start}\n`);
  }
  browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
  folder?.[Symbol.dispose]();
});

/** A page that writes down whatever should not happen on it. */
async function openWatched(url: string) {
  const page = await (await browser.newContext()).newPage();
  const faults = faultsOf(page);
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (host !== new URL(url).host && protocol !== 'data:') faults.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  await page.waitForSelector('main');
  return { page, faults };
}

const MARKUP = `document.querySelectorAll(
  'main :is(img, script, iframe, object, embed, form, base, video, marquee, math, style, meta)').length`;
const LINKS = `[...document.querySelectorAll('a')].filter((a) => !a.getAttribute('href').startsWith('#')).length`;

/** Nothing ran, and nothing became an element or a link. */
async function isInert(page: Page, where: string): Promise<void> {
  expect([where, await page.evaluate("['__stolen', 'executed'].filter((name) => name in window)")]).toEqual([
    where,
    [],
  ]);
  expect([where, await page.evaluate(MARKUP), await page.evaluate(LINKS)]).toEqual([where, 0, 0]);
}

/** How many payloads can be read on the page, line by line. */
async function readOn(page: Page): Promise<number> {
  const flat = (text: string) => text.replace(/\s+/g, ' ').trim();
  const shown = flat(await page.locator('main').innerText());
  return PAYLOADS.filter((payload) => payload.split('\n').every((line) => shown.includes(flat(line)))).length;
}

const SCREENS = ['', 'steps', 'steps/1', 'edits', 'diff?from=0&to=1', 'tasks', 'attempts', 'cost', 'events'];

/** Every screen of the run, and an attempt that holds all payloads in task, reply, error, verifier and names of files. */
async function walk(page: Page, base: string): Promise<void> {
  const at = async (path: string, words: RegExp) => {
    await page.goto(`${base}#/runs/${encodeURIComponent(RUN)}${path === '' ? '' : `/${path}`}`);
    await page.locator('main').getByText(words).first().waitFor({ state: 'attached' });
    await isInert(page, path);
  };
  for (const path of SCREENS) await at(path, /onerror|onload|__stolen|By stage|found/);
  await at('diff?from=0&to=1', /lines unchanged/);
  const gaps = page.getByRole('button', { name: 'unchanged' });
  while ((await gaps.count()) > 0) await gaps.first().click();
  expect(await readOn(page), 'the skill').toBe(PAYLOADS.length);
  await at('attempts/baseline_selection_eval%2Fresults/0', /answered/);
  expect(await readOn(page), 'the attempt').toBe(PAYLOADS.length);
  const turns = await page.locator('.turn', { has: page.getByText('added file') }).allInnerTexts();
  expect(turns).toHaveLength(PAYLOADS.length);
}

it('shows a hundred attacks as text: in skill, task, reply, error, file name and run name', async () => {
  await using server = await serveRuns({ root: join(folder.root, 'runs') });
  const { page, faults } = await openWatched(server.url);
  await page.getByText(RUN, { exact: false }).first().waitFor();
  await isInert(page, 'runs');
  await walk(page, new URL('.', page.url()).href);
  expect(faults).toEqual([]);
  await page.goto(`${new URL('.', page.url()).href}#/runs/${encodeURIComponent(PAYLOADS.join(' '))}`);
  await page.getByRole('alert').waitFor();
  await isInert(page, 'a run that is not there');
});

it('lists runs whose names are attacks', async () => {
  await using server = await serveRuns({ root: join(folder.root, 'names') });
  const { page, faults } = await openWatched(server.url);
  await expect.poll(() => page.locator('.row.run').count()).toBe(NAMES.length + 1);
  const shown = await page.locator('main').innerText();
  expect(NAMES.filter((name) => !shown.includes(name.trim()))).toEqual([]);
  await isInert(page, 'names');
  expect(faults).toEqual([]);
});

it('does the same in a report from a disk', async () => {
  const out = join(folder.root, 'report.html');
  await writeReport(join(folder.root, 'runs', RUN), { out, attempts: 'all' });
  const { page, faults } = await openWatched(`file://${out}`);
  await walk(page, `file://${out}`);
  expect(faults).toEqual([]);
});
