import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { noView, projectRun } from '../../../src/core/page/index.ts';
import { isMissing } from '../../support/machine.ts';
import { bigApp } from '../../support/page/big-app.ts';
import {
  BUILT,
  buildPage,
  countNodes,
  faultsOf,
  findViolations,
  openBrowser,
  type Served,
  serveApp,
} from '../../support/page/browser.ts';
import { demoFolder, trainDemo } from '../../support/page/demo-run.ts';
import { hostile, PAYLOADS } from '../../support/page/hostile-answers.ts';
import { pageApp, pageOf, readServed, type ServedRun } from '../../support/page/page-app.ts';

const it = test.skipIf(isMissing('chromium'));

let [browser, served, folder, demo]: [Browser, Served, string, ServedRun] = [] as never;

beforeAll(async () => {
  await buildPage();
  folder = demoFolder();
  await trainDemo(folder);
  demo = await readServed(folder, 'demo');
  const part = demo.events.slice(0, Math.floor(demo.events.length * 0.45));
  const live = { ...demo, name: 'live', events: part, view: part.reduce(projectRun, noView), isRunning: true };
  served = await serveApp(pageApp([demo, live], BUILT));
  browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
  await served?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

type Look = { readonly width?: number; readonly height?: number; readonly colorScheme?: 'light' | 'dark' };

async function open(
  address: string,
  { width = 1280, height = 800, colorScheme = 'light' }: Look = {},
  url = served.url,
) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const faults = faultsOf(page);
  await page.goto(`${url}${address}`);
  await page.waitForSelector('main');
  return { page, faults, [Symbol.asyncDispose]: () => context.close() };
}

/** Each screen, and words that it shows once it has its data. */
const SCREENS: Readonly<Record<string, string>> = {
  '#/': '5 accepted',
  '#/runs/demo': 'Which tasks got worse?',
  '#/runs/live': 'What is it doing now?',
  '#/runs/demo/steps': 'first skill',
  '#/runs/demo/steps/4': 'How it came about',
  '#/runs/demo/edits': 'Write durations as H:MM.',
  '#/runs/demo/diff?from=1&to=3': 'lines unchanged',
  '#/runs/demo/tasks': 'val-001',
  '#/runs/demo/attempts?task=val-006': 'with step 3, candidate',
  '#/runs/demo/attempts/steps%2Fstep_0003%2Fselection_eval%2Fresults/2': 'answered',
  '#/runs/demo/cost': 'By stage',
  '#/runs/demo/events': '{"type":"baseline-end"',
  '#/compare?a=live&b=demo': 'Which tasks differ?',
  '#/nights': 'Night 2 proposes',
  '#/runs/nothing': 'There is no run of this name.',
};

for (const colorScheme of ['light', 'dark'] as const)
  it(`shows every screen without a fault and without a violation of axe, ${colorScheme}`, async () => {
    const found: Record<string, readonly string[]> = {};
    for (const [address, words] of Object.entries(SCREENS)) {
      await using opened = await open(address, { colorScheme });
      await opened.page.getByText(words).first().waitFor();
      const expected = address.endsWith('nothing')
        ? opened.faults.filter((fault) => !/404/.test(fault))
        : opened.faults;
      found[address] = [...expected, ...(await findViolations(opened.page))];
    }
    expect(found).toEqual(Object.fromEntries(Object.keys(SCREENS).map((address) => [address, []])));
  });

it('can be read on a phone: nothing is wider than the screen', async () => {
  const widths: Record<string, unknown> = {};
  for (const [address, words] of Object.entries(SCREENS)) {
    await using opened = await open(address, { width: 390, height: 844 });
    await opened.page.getByText(words).first().waitFor({ state: 'attached' });
    widths[address] = await opened.page.evaluate('document.documentElement.scrollWidth');
  }
  expect(widths).toEqual(Object.fromEntries(Object.keys(SCREENS).map((address) => [address, 390])));
});

it('answers five questions on the first screen of a run, without scrolling', async () => {
  for (const run of ['demo', 'live']) {
    await using opened = await open(`#/runs/${run}`);
    const { page } = opened;
    const now = run === 'live' ? 'What is it doing now?' : 'What now?';
    const answers = [
      page.locator('.verdict .sentence'),
      page
        .locator('section', { has: page.getByRole('heading', { name: 'Which edits did it?' }) })
        .locator('.row')
        .first(),
      page.locator('section', { has: page.getByRole('heading', { name: 'Which tasks got worse?' }) }),
      page.locator('.cost .total'),
      page.locator('section', { has: page.getByRole('heading', { name: now }) }),
    ];
    for (const answer of answers) {
      await answer.waitFor();
      const { y = 999, height = 999 } = (await answer.boundingBox()) ?? {};
      expect(y + height, await answer.innerText()).toBeLessThanOrEqual(800);
    }
    // The picture of the docs is this screen.
    if (run === 'demo' && process.env.WRITE_DOCS === '1') await page.screenshot({ path: 'docs/images/run.png' });
  }
});

it('shows the numbers that the terminal says', async () => {
  const { words, figures } = pageOf(demo);
  await using opened = await open('#/runs/demo');
  const text = await opened.page.locator('main').innerText();
  for (const said of [words.head, words.sentence, words.chosenBy!, words.amounts, words.next.command])
    expect(text).toContain(said);
  for (const { id } of figures.changed.worse) expect(text).toContain(id);
});

const hashOf = (page: Page): Promise<string> => page.evaluate('location.hash');

it('goes everywhere by keys', async () => {
  await using opened = await open('#/');
  const { page, faults } = opened;
  const press = async (keys: string, expected: string | RegExp) => {
    for (const key of keys.split(' ')) await page.keyboard.press(key);
    await expect.poll(() => hashOf(page), { message: keys }).toMatch(expected);
  };
  await page.getByText('5 accepted').waitFor();
  await press('j Enter', /^#\/runs\/demo$/);
  await page.getByText('Which edits did it?').waitFor();
  await press('t', '#/runs/demo/tasks');
  await page.getByText('val-001').first().waitFor();
  await press('/ v a l - 0 0 6', /q=val-006/);
  await press('Escape j Enter', /attempts\?task=val-006/);
  await page.getByText('with step 3, candidate').first().waitFor();
  await press('j j Enter', /attempts\/baseline|attempts\/steps/);
  await press('[', '#/runs/demo/steps/6');
  await press('[', '#/runs/demo/steps/5');
  await press(']', '#/runs/demo/steps/6');
  await page.getByRole('link', { name: 'Steps', exact: true }).click();
  await press(']', '#/runs/demo/steps/1');
  await press('d', '#/runs/demo/diff');
  await press('e', '#/runs/demo/edits');
  await press('g o', /^#\/runs\/demo$/);
  await page.goBack();
  await press('Shift', '#/runs/demo/edits');
  await press('g r', /^#\/$/);
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  expect(faults).toEqual([]);
});

it('moves in the grid by arrow keys, and says where', async () => {
  await using opened = await open('#/runs/demo/tasks');
  const { page } = opened;
  await page.getByText('val-001').first().waitFor();
  await page.locator('canvas').focus();
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowDown']) await page.keyboard.press(key);
  await page.getByText('val-002 with step 1, candidate: 0 of 1 attempt passed').waitFor();
  await page.keyboard.press('Enter');
  await expect.poll(() => hashOf(page)).toContain('attempts?task=val-002&version=1');
});

it('stays small in a run with 16,000 events, 1,000 steps and 10,000 tasks', async () => {
  await using big = await serveApp(bigApp(pageOf(demo), { steps: 1_000, tasks: 10_000, events: 16_002 }, BUILT));
  for (const [address, words] of [
    ['#/runs/big', 'Which tasks got worse?'],
    ['#/runs/big/events', '{"line":1}'],
    ['#/runs/big/tasks', 'task-0'],
    ['#/runs/big/edits', 'Write durations'],
    ['#/runs/big/steps', 'first skill'],
  ] as const) {
    await using opened = await open(address, {}, big.url);
    const { page, faults } = opened;
    await page.getByText(words).first().waitFor();
    expect(await countNodes(page), address).toBeLessThanOrEqual(500);
    if (address.endsWith('events')) {
      await page.evaluate("document.querySelector('.list').scrollTo(0, 1e9)");
      await page.getByText('16,002').first().waitFor();
      expect(await countNodes(page)).toBeLessThanOrEqual(500);
    }
    expect(faults).toEqual([]);
  }
});

it('says in words what is wrong, and never goes blank', async () => {
  const app = pageApp([demo], BUILT);
  const { Hono } = await import('hono');
  const broken = new Hono();
  const said = { message: 'The journal is damaged at line 7.', hint: 'skillopt show demo says more.' };
  const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  const stream = (...events: string[]) =>
    new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } });
  broken.get('/api/runs/damaged/stream', () =>
    stream('retry: 60000\n', event('page', pageOf(demo)), event('problem', said)),
  );
  broken.get('/api/runs/vague/stream', () => stream('retry: 60000\n', event('page', { ...pageOf(demo), figures: {} })));
  broken.get('/api/runs', (c) => c.json({ error: said }, 500));
  broken.get('/api/nights', (c) => c.text('<html>', 502));
  broken.route('/', app);
  await using other = await serveApp(broken);
  const shows = async (address: string, ...words: string[]) => {
    await using opened = await open(address, {}, other.url);
    for (const one of words) await opened.page.getByText(one).first().waitFor();
  };
  await shows('#/runs/damaged', 'Which edits did it?');
  await shows('#/runs/vague', 'This screen cannot show what it got');
  await shows('#/', said.message, said.hint);
  await shows('#/nights', 'The server answered 502 without a reason.');
  await shows('#/runs/demo/steps/4711', 'There is no step 4711 in this run.');
  await shows('#/runs/demo/nonsense', 'There is no view «nonsense» of a run.');
});

it('shows hostile text as text, wherever it comes from', async () => {
  const app = pageApp([{ ...demo, name: PAYLOADS }], BUILT);
  await using other = await serveApp(hostile(app));
  for (const address of Object.keys(SCREENS).filter((one) => !/live|nothing/.test(one))) {
    await using opened = await open(address.replace('/demo', `/${encodeURIComponent(PAYLOADS)}`), {}, other.url);
    const { page, faults } = opened;
    await page.getByText('onerror').first().waitFor({ state: 'attached' });
    expect(await page.evaluate('window.executed'), address).toBeUndefined();
    expect(
      await page.evaluate(
        "document.querySelectorAll('main :is(img, script, iframe, object, embed, form, base)').length",
      ),
    ).toBe(0);
    expect(
      await page.evaluate(
        "[...document.querySelectorAll('a')].filter((a) => !a.getAttribute('href').startsWith('#')).length",
      ),
    ).toBe(0);
    expect(faults, address).toEqual([]);
  }
});

it('says that the connection is lost, and shows the run again when it is back', async () => {
  const app = pageApp([demo], BUILT);
  const first = await serveApp(app);
  await using opened = await open('#/runs/demo', {}, first.url);
  await opened.page.getByText('Which edits did it?').waitFor();
  await first[Symbol.asyncDispose]();
  await opened.page.getByText('The connection is lost.').waitFor();
  await opened.page.getByText('Which edits did it?').waitFor();
  await using _again = await serveApp(app, Number(new URL(first.url).port));
  await opened.page.getByText('The connection is lost.').waitFor({ state: 'detached' });
});

it('is small, and holds no text as markup', () => {
  const assets = readdirSync(join(BUILT, 'assets'));
  const script = assets.filter((name) => name.endsWith('.js'));
  expect(script).toHaveLength(1);
  const text = readFileSync(join(BUILT, 'assets', script[0]!));
  expect(gzipSync(text).length).toBeLessThanOrEqual(90_000);
  expect(readFileSync(join(BUILT, 'index.html'), 'utf8')).not.toMatch(/<script(?![^>]*src=)|\sstyle=|\son\w+=/);
});
