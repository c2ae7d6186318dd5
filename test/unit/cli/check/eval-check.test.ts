import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { marksProject, skillThat } from './marks-project.ts';

const evaluate = 'eval --skill NEW.md --quiet';

/** The first line of an answer, and how the command ended. */
async function verdictOf(fails: number, flags: string, missing = 0) {
  using project = marksProject({ 'NEW.md': skillThat(fails, missing) });
  const { code, out, err } = await project.cli(`${evaluate} ${flags}`);
  return { code, first: out.split('\n')[0], out, err };
}

describe('eval --baseline', () => {
  it('fails when worse is proven', async () => {
    const { code, first, out } = await verdictOf(24, '--baseline OLD.md');
    expect([code, first]).toEqual([
      1,
      'Worse: 90.0 → 40.0 % on 40 test tasks, proven, -66 to -34 points against OLD.md.',
    ]);
    expect(out).toContain('20 tasks lost: test-4, test-5, ');
    expect(out).toContain('-- fails: 4\n+- fails: 24\n');
    expect(out).toContain('\n0 calls, $0.00\n');
  });

  it('does not fail for what may be chance, and says so', async () => {
    const { code, first } = await verdictOf(6, '--baseline OLD.md');
    expect([code, first]).toEqual([
      0,
      'Not proven worse: 90.0 → 85.0 % on 40 test tasks, -12 to +2 points against OLD.md.',
    ]);
  });

  it('says when it is proven better, and when nothing changed', async () => {
    const down = await verdictOf(0, '--baseline WORSE.md');
    expect([down.code, down.err]).toMatchObject([2, expect.stringContaining('WORSE.md does not exist')]);
    using project = marksProject({ 'NEW.md': skillThat(0), 'OLD.md': skillThat(20), 'COPY.md': skillThat(0) });
    const better = await project.cli(`${evaluate} --baseline OLD.md`);
    expect([better.code, better.out]).toMatchObject([0, expect.stringMatching(/^Better: 50.0 → 100.0 % .* proven, /)]);
    const same = await project.cli(`${evaluate} --baseline COPY.md`);
    expect([same.code, same.out.split('\n')[0]]).toEqual([
      0,
      'No change: it is the same as COPY.md, 100.0 % on 40 test tasks.',
    ]);
  });

  it('answers machines with all of it', async () => {
    using project = marksProject({ 'NEW.md': skillThat(24) });
    const { code, json } = await project.cli(`${evaluate} --baseline OLD.md --min-score 0.9 --json`);
    expect(code).toBe(1);
    expect(json()).toMatchObject({
      skill: 'NEW.md',
      hard: 0.4,
      n: 40,
      cost: { calls: 0, costUsd: 0, isPriced: true },
      verdict: { kind: 'worse', isPassed: false, score: 0.4, minScore: 0.9, isBelowBar: true },
      baseline: {
        skill: 'OLD.md',
        hard: 0.9,
        kind: 'worse',
        comparison: { tasks: 40, before: 0.9, after: 0.4, isWorse: true, gained: [] },
        patch: expect.stringContaining('+- fails: 24'),
      },
    });
    expect(json().tasks).toHaveLength(40);
    expect(json().tasks[4]).toMatchObject({ id: 'test-4', split: 'test', hard: 0, baseline: { hard: 1 } });
    expect(json().testLooks).toBe(2);
  });

  it('compares what both have a score for, by the metric of the gate', async () => {
    using project = marksProject({ 'NEW.md': skillThat(0, 2) }, 'gateMetric: mixed\n');
    const { code, out } = await project.cli(`${evaluate} --baseline OLD.md`);
    expect(code).toBe(0);
    expect(out).toMatch(/^Not proven worse: 94.7 → 100.0 % of whole and partial credit on 38 test tasks, /);
    expect(out).toContain('on 38 of 40 test tasks, 2 without a score, with NEW.md');
  });
});

describe('eval --min-score', () => {
  it.each([
    [8, '0.8', 0, 'At or above the bar: 80.0 % on 40 test tasks, 80.0 % were wanted.'],
    [9, '0.8', 1, 'Below the bar: 77.5 % on 40 test tasks, 80.0 % are wanted.'],
    [0, '1', 0, 'At or above the bar: 100.0 % on 40 test tasks, 100.0 % were wanted.'],
  ])('with %i failures of 40 and a bar of %s ends with %i', async (fails, bar, code, first) => {
    expect(await verdictOf(fails, `--min-score ${bar}`)).toMatchObject({ code, first });
  });

  it('is said with the comparison, and what fails comes first', async () => {
    const { code, out } = await verdictOf(6, '--baseline OLD.md --min-score 0.9');
    expect(code).toBe(1);
    expect(out).toMatch(/^Below the bar: 85.0 % .*\nNot proven worse: 90.0 → 85.0 % /);
  });

  it.each(['80', '-1', 'high', ''])('refuses %j', async (bar) => {
    using project = marksProject({ 'NEW.md': skillThat(0) });
    const { code, err } = await project.cli(`${evaluate} --min-score ${bar}`);
    expect([code, err]).toMatchObject([2, expect.stringContaining('Expected a number from 0 to 1, such as 0.8.')]);
  });
});

describe('too few scores', () => {
  it('are not measured: neither passed nor failed, with a report all the same', async () => {
    using project = marksProject({ 'NEW.md': skillThat(0, 20) });
    const flags = '--baseline OLD.md --min-score 0.1 --junit junit.xml --format md';
    const { code, out, err } = await project.cli(`${evaluate} ${flags}`);
    expect(code).toBe(4);
    expect(out).toContain('**✗ Not measured:** 20 of 40 tasks got no score: no judgement');
    expect(err).toContain('hint: ');
    expect(project.read('junit.xml')).toContain('errors="20"');
    const { json } = await project.cli(`${evaluate} --json`);
    expect(json()).toMatchObject({ verdict: { kind: 'not-measured' }, error: { code: 'MODEL_REPLY_INVALID' } });
  });

  it('of the baseline are not measured either', async () => {
    using project = marksProject({ 'NEW.md': skillThat(0), 'OLD.md': skillThat(0, 20) });
    expect((await project.cli(`${evaluate} --baseline OLD.md`)).code).toBe(4);
    expect((await project.cli(evaluate)).code).toBe(0);
  });
});

describe('eval --baseline git:', () => {
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', '-c', 'init.defaultBranch=main', ...args], {
      cwd,
      env: { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' },
    }).toString();

  function repository() {
    const project = marksProject({ 'pdf/SKILL.md': `${skillThat(4)}See [a](a.md).\n`, 'pdf/a.md': 'fails: 0\n' });
    git(project.path, 'init');
    git(project.path, 'add', '.');
    git(project.path, 'commit', '-m', 'one');
    return project;
  }

  it('is the same document at that revision, with the files that it had there', async () => {
    using project = repository();
    project.write('pdf/SKILL.md', `${skillThat(24)}See [a](a.md).\n`);
    const before = git(project.path, 'status', '--porcelain');
    const { code, out, err } = await project.cli('eval --skill pdf --baseline git:main --quiet');
    expect([code, err]).toEqual([1, '']);
    expect(out).toMatch(/^Worse: 90.0 → 40.0 % on 40 test tasks, proven, .* against git:main\.\n/);
    expect(git(project.path, 'status', '--porcelain').replace('?? .cache/\n?? runs/\n', '')).toContain(before.trim());
    project.write('pdf/SKILL.md', `${skillThat(4)}See [a](a.md).\n`);
    project.write('pdf/a.md', 'Other.\n');
    expect((await project.cli('eval --skill pdf --baseline git:HEAD --quiet')).out).toMatch(
      /^Not proven worse: 90.0 → 90.0 /,
    );
  });

  it('is nothing where the document is new, and a mistake where the revision is', async () => {
    using project = repository();
    project.write('NEW.md', skillThat(0));
    const { code, out, err } = await project.cli(`${evaluate} --baseline git:main`);
    expect([code, err]).toEqual([0, 'note: NEW.md is not in main: there is nothing to compare it with\n']);
    expect(out).toMatch(/^100.0 % hard/);
    const wrong = await project.cli('eval --skill pdf --baseline git:--all --quiet');
    expect([wrong.code, wrong.err]).toMatchObject([2, expect.stringContaining('hint: Name a branch, tag or commit')]);
    rmSync(project.at('.git'), { recursive: true });
    expect((await project.cli('eval --skill pdf --baseline git:main --quiet')).err).toContain('--baseline OLD.md');
  });
});

describe('eval --format', () => {
  it('md is a page with verdict, scores, flips, cost and the change', async () => {
    const { out } = await verdictOf(6, '--baseline OLD.md --format md');
    expect(out).toMatchInlineSnapshot(`
      "### \`NEW.md\`

      **✓ Not proven worse:** 90.0 → 85.0 % on 40 test tasks, -12 to +2 points against \`OLD.md\`. 0 calls, $0.00.

      | | before | now | tasks |
      |---|---:|---:|---:|
      | \`test\` | 90.0 % | 85.0 % | 40 |
      | \`even\` | 90.0 % | 85.0 % | 20 |
      | \`odd\` | 90.0 % | 85.0 % | 20 |

      - 2 tasks lost: \`test-4\`, \`test-5\`

      | what it cost | calls | tokens | dollars |
      |---|---:|---:|---:|
      | \`NEW.md\` | 0 | 0 | 0.00 |
      | \`OLD.md\` | 0 | 0 | 0.00 |

      <details>
      <summary>What changed in NEW.md: 1 line added, 1 removed</summary>

      \`\`\`diff
      -- fails: 4
      +- fails: 6
      \`\`\`

      </details>
      "
    `);
  });

  it('github is that page, with commands off in it, an annotation, and the step summary', async () => {
    using project = marksProject({ 'NEW.md': `${skillThat(24)}::error::planted\n##[error]planted\n` });
    const env = { GITHUB_STEP_SUMMARY: project.at('summary.md') };
    const { code, out } = await project.cli(`${evaluate} --baseline OLD.md --format github`, env);
    expect(code).toBe(1);
    const lines = out.trimEnd().split('\n');
    const [, end] = /^::stop-commands::(\S+)$/.exec(lines[0]!)!;
    expect(lines.indexOf(`::${end}::`)).toBe(lines.length - 2);
    expect(lines.at(-1)).toBe(
      '::error title=skillopt%3A NEW.md::Worse: 90.0 → 40.0 %25 on 40 test tasks, proven, -66 to -34 points against OLD.md.',
    );
    expect(project.read('summary.md')).toMatch(/^### `NEW.md`\n\n\*\*✗ Worse:\*\* /);
    expect((await project.cli('eval --skill OLD.md --quiet --format github')).out).toContain('\n::notice title=');
  });

  it('github also annotates what stopped it', async () => {
    using project = marksProject({ 'NEW.md': skillThat(0) });
    project.write(
      'env.mjs',
      'export default { name: "x", getItems: () => [{ id: "a" }, { id: "b" }], rolloutOne() { throw new Error("down"); } };',
    );
    const { code, out } = await project.cli(`${evaluate} --format github`);
    expect([code, out]).toMatchObject([
      4,
      expect.stringContaining('::error title=skillopt%3A NEW.md::Not measured: the environment threw on 2 of 2'),
    ]);
  });
});

describe('eval files', () => {
  it('--out has the page and the whole answer, --junit one case a task', async () => {
    using project = marksProject({ 'NEW.md': skillThat(6, 1) });
    await project.cli(`${evaluate} --baseline OLD.md --out scores --junit deep/junit.xml`);
    expect(JSON.parse(project.read('scores/eval.json'))).toMatchObject({ verdict: { kind: 'not-proven' } });
    expect(project.read('scores/report.md')).toContain('### `NEW.md`');
    expect(project.read('scores/report.html')).toContain('No difference is proven between OLD.md and NEW.md');
    const xml = project.read('deep/junit.xml');
    expect(xml.match(/<testcase /g)).toHaveLength(40);
    expect(xml).toContain('<testsuite name="test" tests="40" failures="5" errors="1">');
    expect(xml).toContain(
      '<testcase classname="test.odd" name="test-5">\n<properties>\n<property name="score" value="0"/>\n<property name="baseline" value="1"/>',
    );
    expect(xml).toContain('expected: right&#10;answer: a ]]&#62; b &#38; &#60;c&#62;');
  });

  it('that cannot be written are known before anything is asked', async () => {
    using project = marksProject({ 'NEW.md': skillThat(6) });
    mkdirSync(project.at('taken'));
    const { code, err } = await project.cli(`${evaluate} --junit taken`);
    expect([code, err]).toMatchObject([2, expect.stringContaining('--junit taken cannot be written')]);
    for (const flag of ['--junit', '--out']) {
      const nowhere = await project.cli(`${evaluate} ${flag} /proc/nowhere/x`); // Node would try to make it for ever
      expect([nowhere.code, nowhere.err]).toMatchObject([2, expect.stringContaining(`${flag} /proc/nowhere/x cannot`)]);
    }
    expect(existsSync(project.at('runs'))).toBe(false);
  });

  it('take the place of nothing but earlier reports', async () => {
    using project = marksProject({ 'NEW.md': skillThat(6), 'mine/report.md': 'my own\n' });
    const skill = project.read('NEW.md');
    const { code, err } = await project.cli(`${evaluate} --junit NEW.md`);
    expect([code, err]).toMatchObject([2, expect.stringContaining('is there already, and is no JUnit report')]);
    const other = await project.cli(`${evaluate} --out mine`);
    expect([other.code, other.err]).toMatchObject([2, expect.stringContaining('has a report.md already')]);
    expect([project.read('NEW.md'), project.read('mine/report.md')]).toEqual([skill, 'my own\n']);
    for (const _ of [1, 2]) expect((await project.cli(`${evaluate} --junit ok.xml --out ok`)).code).toBe(0);
  });
});
