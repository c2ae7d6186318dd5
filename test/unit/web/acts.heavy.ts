import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveRuns } from '../../../src/server/index.ts';
import { isMissing } from '../../support/machine.ts';
import { faultsOf, openBrowser } from '../../support/page/browser.ts';
import { buildPage } from '../../support/page/built-page.ts';
import { demoFolder, openGate, trainDemo } from '../../support/page/demo-run.ts';
import { runsFolder, trainSimulated } from '../../support/page/served-runs.ts';
import { type SleepHome, sleepHome } from '../../support/sleep/sleep-home.ts';
import { propose } from '../cli/sleep/pending.ts';

const it = test.skipIf(isMissing('chromium'));

let browser: Browser;
beforeAll(async () => {
  await buildPage();
  browser = await openBrowser();
});
afterAll(() => browser?.close());

async function openPage(url: string, address: string): Promise<{ page: Page; faults: string[] }> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  const faults = faultsOf(page);
  await page.goto(url);
  await page.goto(new URL(address, page.url()).href);
  return { page, faults };
}

/** By Tab alone, as somebody without a mouse. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const wanted = page.getByRole('button', { name });
  await wanted.waitFor();
  for (let count = 0; count < 60; count += 1) {
    if (await wanted.evaluate((element) => element.ownerDocument.activeElement === element)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${name}`);
}

it('stops a running run by keys, asks first, and shows that it stopped', async () => {
  using folder = runsFolder();
  const args = [resolve('bin/skillopt.mjs'), 'demo', '--quiet', '--latency-ms', '60'];
  const child = spawn(process.execPath, args, { cwd: folder.root, env: { ...process.env, HOME: folder.root } });
  const ended = new Promise((done) => child.once('exit', done));
  await using server = await serveRuns({ root: join(folder.root, 'runs'), control: true });
  try {
    const { page, faults } = await openPage(server.url, '#/');
    const listed = () => page.reload().then(() => page.getByRole('link', { name: 'demo' }).count());
    await expect.poll(listed, { timeout: 60_000 }).toBeGreaterThan(0);
    await page.goto(new URL('#/runs/demo', page.url()).href);
    await tabTo(page, 'Stop');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Stop it now?' }).waitFor();
    expect(child.exitCode).toBeNull();
    await page.keyboard.press('Enter');
    await page.getByText('What now?').waitFor({ timeout: 60_000 });
    expect(await ended).toBe(130);
    await page.getByRole('heading', { level: 1, name: 'Not finished' }).waitFor();
    expect(faults).toEqual([]);
  } finally {
    child.kill('SIGKILL');
  }
});

const RULES = Array.from({ length: 120 }, (_, index) => `- rule ${index + 1}`).join('\n');
const DOCUMENT = 'AGENTS.md';

async function openNights(home: SleepHome, control: boolean) {
  home.write(`shop/${DOCUMENT}`, '# Mine\n\nBe kind.\n');
  await propose(home, { name: DOCUMENT, rule: RULES });
  const nights = { cwd: home.shop, stateFolder: home.state };
  const server = await serveRuns({ root: join(home.path, 'runs'), control, nights });
  const { page, faults } = await openPage(server.url, '#/nights');
  await page.getByText('Night 1 proposes').waitFor();
  return { page, faults, [Symbol.asyncDispose]: () => server.close() };
}

it('adopts a change by keys once it was read to its end, and not before', async () => {
  using home = sleepHome();
  await using opened = await openNights(home, true);
  const { page, faults } = opened;
  const adopt = page.getByRole('button', { name: /^Adopt/ });
  await page.getByText('Read the change to its end to adopt it.').waitFor();
  expect(await adopt.count()).toBe(0);
  await page.keyboard.press('End');
  expect(await adopt.count()).toBe(0); // there are more lines than are shown
  await tabTo(page, /more line/);
  await page.keyboard.press('Enter');
  await page.keyboard.press('End');
  await tabTo(page, /^Adopt/);
  await page.keyboard.press('Enter');
  await page.getByText('Adopt what is shown above?').waitFor();
  expect(home.read(`shop/${DOCUMENT}`)).not.toContain('rule');
  await page.keyboard.press('Enter');
  await page.getByText('adopted').waitFor();
  expect(home.read(`shop/${DOCUMENT}`)).toContain(RULES);
  await page.reload();
  await page.getByText('Night 1 proposes').waitFor();
  expect(await adopt.count()).toBe(0);
  expect(faults).toEqual([]);
});

it('offers neither where the page may only read', async () => {
  using home = sleepHome();
  await using opened = await openNights(home, false);
  await opened.page.keyboard.press('End');
  expect(await opened.page.getByText(/^Adopt|to adopt it/).count()).toBe(0);
});

it('pauses by p while a run goes on, and by p again shows all of it', async () => {
  const folder = demoFolder();
  await using server = await serveRuns({ root: folder });
  const { hold, release } = openGate();
  const training = trainDemo(folder, hold);
  const stepsIn = () => readFileSync(join(folder, 'demo/events.jsonl'), 'utf8').split('"step-end"').length - 1;
  const { page, faults } = await openPage(server.url, '#/');
  const listed = () => page.reload().then(() => page.getByRole('link', { name: 'demo' }).count());
  await expect.poll(listed, { timeout: 60_000 }).toBeGreaterThan(0);
  await page.goto(new URL('#/runs/demo', page.url()).href);
  await page.getByRole('button', { name: 'live' }).waitFor();
  await page.keyboard.press('p');
  await page.getByRole('button', { name: 'paused' }).waitFor();
  const [text, steps] = [await page.locator('main').innerText(), stepsIn()];
  release();
  await expect.poll(stepsIn, { timeout: 60_000 }).toBeGreaterThan(steps + 1);
  expect(await page.locator('main').innerText()).toBe(text);
  await page.keyboard.press('p');
  await page.getByRole('button', { name: 'live' }).or(page.getByText('What now?')).waitFor();
  await expect.poll(() => page.locator('.row.version').count()).toBeGreaterThan(steps + 1);
  await training;
  await page.getByText('What now?').waitFor();
  expect(faults).toEqual([]);
});

it('compares, filters, opens a gap and changes the theme by keys', async () => {
  using folder = runsFolder();
  await trainSimulated(join(folder.root, 'one'));
  await trainSimulated(join(folder.root, 'two'), { seed: 12 });
  await using server = await serveRuns({ root: folder.root });
  const { page, faults } = await openPage(server.url, '#/');
  const at = (address: string) => page.goto(new URL(address, page.url()).href);
  for (const name of ['two', 'one']) {
    await page.getByRole('checkbox', { name: `Compare ${name}` }).focus();
    await page.keyboard.press('Space');
  }
  await page.getByRole('link', { name: 'Compare two with one' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('Which tasks differ?').waitFor();
  await at('#/runs/one/edits');
  await tabTo(page, /^accepted/);
  await page.keyboard.press('Space');
  await expect.poll(() => page.evaluate('location.hash')).toContain('fate=accepted');
  await at('#/runs/one/diff');
  await tabTo(page, /unchanged/);
  await page.keyboard.press('Enter');
  await page.getByText(/^protected:/).waitFor();
  await tabTo(page, /^Theme: system/);
  await page.keyboard.press('Enter');
  await expect.poll(() => page.evaluate('document.documentElement.dataset.theme')).toBe('light');
  expect(faults).toEqual([]);
});
