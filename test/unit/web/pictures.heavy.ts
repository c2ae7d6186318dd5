import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { serveRuns } from 'skillopt/server';
import { expect, it } from 'vitest';
import { faultsOf, openBrowser } from '../../support/page/browser.ts';
import { demoFolder, trainDemo } from '../../support/page/demo-run.ts';

const FOLDER = 'docs/images';

/** What the README and the pages of the documentation show: the run of `npm start`, in a real browser, from the real server. */
it('the pictures of the documentation can be made; WRITE_DOCS=1 makes them', async () => {
  const folder = demoFolder();
  await trainDemo(folder);
  await using server = await serveRuns({ root: folder });
  const browser = await openBrowser();
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
    const page = await context.newPage();
    const faults = faultsOf(page);
    await page.goto(`${server.url}#/runs/demo`);
    await page.getByText('Which tasks got worse?').waitFor();
    await page.locator('canvas').first().waitFor();
    if (process.env.WRITE_DOCS === '1') {
      mkdirSync(FOLDER, { recursive: true });
      await page.screenshot({ path: join(FOLDER, 'run.png') });
    }
    expect(faults).toEqual([]);
    expect(existsSync(join(FOLDER, 'run.png'))).toBe(true);
  } finally {
    await browser.close();
  }
});
