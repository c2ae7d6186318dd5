import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { marksProject, skillThat } from './marks-project.ts';

const QUICK = 'numEpochs: 1\nbatchSize: 2\nfinalPasses: 1\nmaxRollouts: 40\nfitValidation: false\n';

describe('compare of documents', () => {
  it('says which is better on the same tasks, how sure, which tasks turned, and what it cost', async () => {
    using project = marksProject({ 'A.md': skillThat(24), 'B.md': skillThat(4) });
    const { code, out } = await project.cli('compare A.md B.md --quiet');
    expect([code, out.trimEnd().split('\n')]).toEqual([
      0,
      [
        'B.md is better than A.md: 40.0 → 90.0 % on 40 test tasks, proven, +34 to +66 points.',
        expect.stringMatching(/^20 tasks gained: test-4, test-5, .* and \d+ more$|^20 tasks gained: .*test-23$/),
        '',
        'what scoring them cost  calls  tokens  dollars',
        'A.md                        0       0     0.00',
        'B.md                        0       0     0.00',
      ],
    ]);
  });

  it('proves nothing by chance, and knows the same skill when it sees it', async () => {
    using project = marksProject({ 'A.md': skillThat(4), 'B.md': skillThat(6), 'C.md': skillThat(6) });
    expect((await project.cli('compare A.md B.md --quiet')).out).toMatch(
      /^No difference is proven between A.md and B.md: 90.0 → 85.0 % on 40 test tasks, -12 to \+2 points\.\n/,
    );
    expect((await project.cli('compare B.md C.md --quiet')).out).toMatch(
      /^B.md and C.md are the same skill: 85.0 % on 40 test tasks\.\n/,
    );
  });

  it('answers machines and pages with the same, and the change', async () => {
    using project = marksProject({ 'A.md': skillThat(4), 'B.md': skillThat(24) });
    expect((await project.cli('compare A.md B.md --quiet --json')).json()).toMatchObject({
      split: 'test',
      kind: 'worse',
      comparison: { tasks: 40, before: 0.9, after: 0.4, gained: [], lost: expect.arrayContaining(['test-4']) },
      a: { name: 'A.md', tasks: 40, cost: { calls: 0 } },
      patch: expect.stringContaining('+- fails: 24'),
    });
    const { out } = await project.cli('compare A.md B.md --quiet --format md');
    expect(out).toMatch(/^\*\*`B.md` is worse than `A.md`:\*\* 90.0 → 40.0 % on 40 test tasks, proven, /);
    expect(out).toContain('\n- 20 tasks lost: `test-4`, ');
    expect(out).toContain('```diff\n-- fails: 4\n+- fails: 24\n```');
  });

  it('refuses fewer than ten tasks before it asks for anything, and what is neither run nor document', async () => {
    using project = marksProject({ 'A.md': skillThat(4), 'B.md': skillThat(6) });
    const { code, err } = await project.cli('compare A.md B.md --split train --quiet');
    expect([code, err]).toMatchObject([
      2,
      expect.stringContaining('2 train tasks of both can be compared, and at least 10 are needed'),
    ]);
    expect((await project.cli('compare A.md nowhere --quiet')).err).toContain('nowhere does not exist');
  });

  it('has no verdict where too few tasks got a score', async () => {
    using project = marksProject({ 'A.md': skillThat(4), 'B.md': skillThat(4, 20) });
    const { code, out, err } = await project.cli('compare A.md B.md --quiet');
    expect([code > 0, out, err]).toMatchObject([true, '', expect.stringContaining('20 of 40 tasks got no score')]);
  });
});

describe('compare of runs', () => {
  async function twoRuns(more = '') {
    const project = marksProject({ 'A.md': skillThat(24), 'B.md': skillThat(4) }, QUICK);
    expect((await project.cli('train --run runs/a --skill A.md --quiet')).code).toBe(0);
    const second = await project.cli(`train --run runs/b --skill B.md --quiet${more}`);
    expect(second.code, second.err).toBe(0);
    return project;
  }

  it('takes what they measured, and asks nothing', async () => {
    using project = await twoRuns();
    writeFileSync(project.at('env.mjs'), 'throw new Error("nobody needs me")');
    const { code, out } = await project.cli('compare a b');
    expect([code, out.split('\n')[0]]).toEqual([
      0,
      'b is better than a: 40.0 → 90.0 % on 40 test tasks, proven, +34 to +66 points.',
    ]);
    expect(out).toContain('what the runs cost');
    const { json } = await project.cli('compare runs/a b --split val --json');
    expect(json()).toMatchObject({ kind: 'better', comparison: { tasks: 12, before: 0, after: 8 / 12 }, notes: [] });
  });

  it('with other tasks compares those in common, and says how many; a run may stand beside a document', async () => {
    using project = await twoRuns(' --set evaluation.test_env_num=30');
    const { out } = await project.cli('compare a b');
    expect(out).toMatch(/^b is better than a: 20.0 → 86.7 % on 30 test tasks, proven, /);
    expect(out).toContain('\n30 tasks are common: a has 40, b has 30\n');
    expect(out).toContain('\nthe tasks of the two runs are not the same; those with the same id are compared\n');
    expect((await project.cli('compare a B.md --quiet')).out).toMatch(/^B.md is better than a: 40.0 → 90.0 % on 40 /);
  });

  it('refuses what was not measured, other metrics, and fewer than ten tasks in common', async () => {
    using project = await twoRuns(' --set evaluation.test_env_num=9');
    expect((await project.cli('compare a b')).err).toContain('9 test tasks of both can be compared');
    expect((await project.cli('compare a b --split train')).err).toContain(
      'a has not measured its best skill on train',
    );
    await project.cli('train --run runs/c --skill B.md --quiet --gate-metric soft');
    const { code, err } = await project.cli('compare a c');
    expect([code, err]).toMatchObject([
      2,
      expect.stringContaining('a counts hard scores and c soft ones (gateMetric)'),
    ]);
  });

  it('names the runs that there are for one that is not, refuses a split that is none, and empty names', async () => {
    using project = await twoRuns();
    const unknown = await project.cli('compare a nope');
    expect([unknown.code, unknown.err]).toEqual([
      2,
      expect.stringMatching(/no run nope, and a document nope does not exist[\s\S]*hint: Runs in runs: (a, b|b, a)\n/),
    ]);
    const split = await project.cli('compare a b --split zzz');
    expect([split.code, split.err]).toEqual([2, expect.stringContaining('there is no split zzz in a')]);
    for (const line of ['compare  ', 'compare a ', 'show ', 'diff ', 'apply ', 'watch ']) {
      const { code, err } = await project.cli(line);
      expect([line, code, err]).toEqual([line, 2, expect.stringContaining('error: the name of a run is empty\n')]);
    }
  });
});
