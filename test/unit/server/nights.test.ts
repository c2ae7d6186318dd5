import { join } from 'node:path';
import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import type { NightsPage } from '../../../src/core/page/index.ts';
import { openPages, problemIn } from '../../support/page/served-runs.ts';
import { type SleepHome, sleepHome } from '../../support/sleep/sleep-home.ts';
import { nightAnswer, nightFlags, reviewedTasks } from '../cli/sleep/night-over-http.ts';
import { propose } from '../cli/sleep/pending.ts';

const pagesOf = ({ path, shop, state }: SleepHome, control: boolean) =>
  openPages({ root: join(path, 'runs'), control, nights: { cwd: shop, stateFolder: state } });

describe('the page of the nights', () => {
  it('lists what nights came to, and what they propose with its evidence and its diff', async () => {
    await using server = await startFakeLLM(nightAnswer);
    using home = sleepHome();
    reviewedTasks(home);
    home.write('shop/CLAUDE.md', '# Shop\n');
    expect((await home.run(nightFlags(server.baseURL))).code).toBe(0);
    const text = await (await pagesOf(home, false).get('/api/nights')).text();
    const { project, nights, proposals }: NightsPage = JSON.parse(text);
    expect(project).toBe('shop');
    expect(nights).toMatchObject([{ name: 'night-1', night: 1, head: expect.stringMatching(/^Proposed: /) }]);
    expect(nights[0]!.tasks).toBeGreaterThan(0);
    expect(nights[0]!.cost.calls).toBeGreaterThan(0);
    const [proposal] = proposals;
    expect(proposal).toMatchObject({ night: 1, status: 'pending', before: '' });
    expect(proposal!.after).toContain('DONE');
    expect(proposal!.evidence[0]).toMatch(/points on held-out tasks/);
    expect(proposal!.digest).toMatch(/^\w+/);
    expect(text).not.toContain(home.path);
  });

  it('is empty without a night, and without a project', async () => {
    using home = sleepHome();
    expect(await pagesOf(home, false).json('/api/nights')).toEqual({ project: 'shop', nights: [], proposals: [] });
    expect(await openPages({ root: home.path }).json('/api/nights')).toMatchObject({ nights: [], proposals: [] });
  });
});

describe('a proposal', () => {
  const DOCUMENT = 'CLAUDE.md';

  async function proposedAt(home: SleepHome, control: boolean) {
    home.write(`shop/${DOCUMENT}`, '# Shop\n');
    await propose(home, { name: DOCUMENT });
    const pages = pagesOf(home, control);
    const { proposals } = await pages.json<NightsPage>('/api/nights');
    const { id, digest } = proposals[0]!;
    return { post: (body: object) => pages.post('/api/nights/adopt', { id, project: 'shop', digest, ...body }), pages };
  }

  it('is adopted by the digest of the text that was shown, once', async () => {
    using home = sleepHome();
    const { post, pages } = await proposedAt(home, true);
    const adopted = await post({});
    expect([adopted.status, await adopted.json()]).toEqual([200, { paths: [DOCUMENT] }]);
    expect(home.read(`shop/${DOCUMENT}`)).toContain('- a rule');
    const again = await post({});
    expect(again.status).toBe(409);
    expect((await problemIn(again)).message).toContain('does not wait any more: it is adopted');
    expect((await pages.json<NightsPage>('/api/nights')).proposals).toMatchObject([{ status: 'adopted' }]);
  });

  it.each([
    ['another digest than that of the text', { digest: 'f'.repeat(64) }, 409, 'is not what was shown'],
    ['no digest, as where no text was shown', { digest: undefined }, 400, 'digest of a proposal were expected'],
    ['an empty digest', { digest: '' }, 409, 'is not what was shown'],
    ['another project', { project: 'blog' }, 404, 'there is no proposal'],
    ['an id that is none', { id: 'nope' }, 404, 'there is no proposal nope'],
  ])('is not adopted with %s, and nothing is written', async (_, body, status, words) => {
    using home = sleepHome();
    const { post } = await proposedAt(home, true);
    const refused = await post(body);
    expect(refused.status).toBe(status);
    expect((await problemIn(refused)).message).toContain(words);
    expect(home.read(`shop/${DOCUMENT}`)).toBe('# Shop\n');
  });

  it('that a later night has changed since it was shown is not adopted', async () => {
    using home = sleepHome();
    const { post } = await proposedAt(home, true);
    await propose(home, { name: DOCUMENT, rule: '- another rule' });
    expect((await post({})).status).toBe(409);
    expect(home.read(`shop/${DOCUMENT}`)).toBe('# Shop\n');
  });

  it('is not adopted without control, even with its digest', async () => {
    using home = sleepHome();
    const { post } = await proposedAt(home, false);
    const refused = await post({});
    expect(refused.status).toBe(403);
    expect((await problemIn(refused)).message).toBe('this page only shows runs');
    expect(home.read(`shop/${DOCUMENT}`)).toBe('# Shop\n');
  });
});
