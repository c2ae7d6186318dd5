import { once } from 'node:events';
import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveRuns, writeReport } from '../../../src/server/index.ts';
import { isMissing } from '../../support/machine.ts';
import { faultsOf, findViolations, openBrowser } from '../../support/page/browser.ts';
import { buildPage } from '../../support/page/built-page.ts';
import { demoFolder, openGate, trainDemo } from '../../support/page/demo-run.ts';

const it = test.skipIf(isMissing('chromium'));

let [browser, folder]: [Browser, string] = [] as never;

beforeAll(async () => {
  await buildPage();
  folder = demoFolder();
  browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function openPage(url: string): Promise<{ page: Page; faults: string[] }> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  const faults = faultsOf(page);
  await page.goto(url);
  return { page, faults };
}

it('sends the token to no server on another port', async () => {
  const cookies: (string | undefined)[] = [];
  await using server = await serveRuns({ root: folder, port: 0 });
  const other = createServer((request, response) => {
    cookies.push(request.headers.cookie);
    response.end('another page');
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { page } = await openPage(server.url);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  const home = page.url();
  await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/open`);
  other.close();
  expect(cookies.length).toBeGreaterThan(0);
  expect(cookies.filter((cookie) => cookie !== undefined)).toEqual([]);
  await page.goto(home);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
});

it('follows a run from its first event to its verdict, without a fault', async () => {
  const server = await serveRuns({ root: folder, port: 0 });
  try {
    const { hold, release } = openGate();
    const training = trainDemo(folder, hold);
    const { page, faults } = await openPage(server.url);
    const at = (address: string) => page.goto(new URL(address, page.url()).href);
    // The list is live: nobody loads it again.
    await page.getByRole('link', { name: 'demo' }).waitFor({ timeout: 60_000 });
    await page.getByRole('checkbox', { name: 'Compare demo' }).check();
    await page.getByText(/running, step [1-9]/).waitFor({ timeout: 60_000 });
    await page.getByText(/1 accepted|1 rejected/).waitFor({ timeout: 60_000 });
    expect(await page.getByRole('checkbox', { name: 'Compare demo' }).isChecked()).toBe(true);
    expect(await page.evaluate('document.activeElement.type')).toBe('checkbox');
    await at('#/runs/demo');
    await page.getByText('What is it doing now?').waitFor();
    await page.locator('.row.version').nth(1).waitFor();
    const early = await page.locator('.row.version').count();
    release();
    await page.getByRole('heading', { level: 1, name: 'Better' }).waitFor({ timeout: 120_000 });
    await training;
    await page.getByText('What now?').waitFor();
    expect(await page.locator('.row.version').count()).toBeGreaterThan(early);
    expect(await page.locator('.tally').innerText()).toMatch(/\d+ worse/);
    expect(faults).toEqual([]);
    expect(await findViolations(page)).toEqual([]);
  } finally {
    await server.close();
  }
});

it('says that a journal is damaged or a folder gone, keeps what it has, and recovers', async () => {
  const server = await serveRuns({ root: folder, port: 0 });
  const journal = join(folder, 'demo/events.jsonl');
  const text = readFileSync(journal, 'utf8');
  try {
    const { page } = await openPage(server.url);
    await page.goto(new URL('#/runs/demo', page.url()).href);
    await page.getByText('Which edits did it?').waitFor();
    appendFileSync(journal, '{"no":"event"}\n{"no":"event"}\n');
    await page.getByRole('alert').waitFor();
    expect(await page.getByText('Which edits did it?').isVisible()).toBe(true);
    await page.getByRole('heading', { level: 1, name: 'as far as it could be read' }).waitFor();
    await page.getByText('Not known').first().waitFor();
    expect(await page.getByText('It is not running').count()).toBe(0);
    // A beginning alone proves nothing about the rest.
    writeFileSync(journal, `${text.split('\n').slice(0, 2).join('\n')}\n{"no":"event"}\n{"no":"event"}\n`);
    await expect.poll(() => page.getByText('Not known').count()).toBe(3);
    expect(await page.getByText(/none was tried|fails now|resumes/).count()).toBe(0);
    writeFileSync(journal, text);
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.getByText('It is not running').waitFor();
    renameSync(join(folder, 'demo'), join(folder, '..', 'skillopt-page-moved'));
    await page.getByRole('alert').waitFor();
    expect(await page.getByText('Which edits did it?').isVisible()).toBe(true);
    // What is asked meanwhile fails, and is asked again afterwards.
    await page.getByRole('link', { name: 'Attempts', exact: true }).click();
    await expect.poll(() => page.getByRole('alert').count()).toBe(2);
    renameSync(join(folder, '..', 'skillopt-page-moved'), join(folder, 'demo'));
    await page.getByRole('alert').first().waitFor({ state: 'detached' });
    await page.locator('.row.attempt').first().waitFor();
  } finally {
    await server.close();
  }
});

it('is the same page in a report: from a disk, without a request', async () => {
  const out = join(folder, 'report.html');
  await writeReport(join(folder, 'demo'), { out });
  const { page, faults } = await openPage(`file://${out}`);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.getByText('Which edits did it?').waitFor();
  for (const [tab, words] of [
    ['Steps', 'first skill'],
    ['Edits', 'Write durations'],
    ['Diff', 'lines unchanged'],
    ['Tasks', 'val-001'],
    ['Attempts', 'npx skillopt report demo --attempts all writes them'],
    ['Cost', 'By stage'],
    ['Events', '{"type":"run-start"'],
  ] as const) {
    await page.getByRole('link', { name: tab, exact: true }).click();
    await page.getByText(words).first().waitFor();
    expect(await findViolations(page), tab).toEqual([]);
  }
  expect([...requests, ...faults]).toEqual([]);
});
