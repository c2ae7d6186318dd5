import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HandoffPending } from '../../../../src/sleep/index.ts';
import { type SleepHome, sleepHome } from '../../../support/sleep/sleep-home.ts';
import { answerAll, deafPerson, type PendingAnswer, questionsFor, writeTasks } from './handoff-agent.ts';

const HANDOFF = ['run', '--target', 'handoff', '--json'];

type Night = { readonly flags?: readonly string[]; readonly answer?: (pending: PendingAnswer) => unknown };

/** The same command again and again, with everything answered in between. */
async function wholeNight(home: SleepHome, { flags = [], answer = (pending) => answerAll(pending) }: Night) {
  const rounds: string[] = [];
  for (;;) {
    const { code, out, err } = await home.run([...HANDOFF, ...flags]);
    if (rounds.length === 1) expect(err).toContain('resuming the run that is here');
    expect(err).not.toContain('--fresh'); // which is no flag of a night
    if (code === 0) return { rounds, report: JSON.parse(out) };
    if (code !== 6 || rounds.length === 20) throw new Error(`${code} ${err} ${out.slice(0, 500)}`);
    const pending: PendingAnswer = JSON.parse(out);
    rounds.push(Object.keys(pending.byRole).join(' and '));
    await answer(pending);
  }
}

async function pendingOf(home: SleepHome, flags: readonly string[]): Promise<PendingAnswer> {
  const { code, out } = await home.run([...HANDOFF, ...flags]);
  expect(code).toBe(6);
  return JSON.parse(out);
}

const ROUNDS = ['target', 'judge', 'optimizer', 'target', 'judge'];

describe('a night without a model', () => {
  it('35: takes at most 6 rounds for tasks with a rubric and a skill, and keeps its answers', async () => {
    using home = sleepHome();
    const { rounds, report } = await wholeNight(home, {
      flags: ['--tasks', writeTasks(home, 12), '--no-evolve-memory'],
    });
    expect(rounds).toEqual(ROUNDS);
    expect(report).toMatchObject({ nReplayed: 12, accepted: true, proposals: [{ id: '1' }] });
    expect(report.documents[0].gain.value).toBeGreaterThan(0);
    expect(readdirSync(report.folder).filter((name) => name.startsWith('handoff'))).toEqual(['handoff.done']);
    expect(readdirSync(join(report.folder, 'handoff.done', 'answers')).length).toBeGreaterThan(12);
  });

  it('35: takes at most 9 rounds with the memory', async () => {
    using home = sleepHome();
    home.write('shop/CLAUDE.md', '# Shop\n');
    const { rounds, report } = await wholeNight(home, { flags: ['--tasks', writeTasks(home, 14)] });
    expect(rounds).toEqual([...ROUNDS, 'optimizer', 'target', 'judge']);
    expect(report.documents.map(({ kind }: { kind: string }) => kind)).toEqual(['skill', 'memory']);
  });

  it('35: takes no more when nothing helps; rules need no rounds of a judge', async () => {
    using home = sleepHome();
    home.write('shop/CLAUDE.md', '# Shop\n');
    const { rounds, report } = await wholeNight(home, {
      flags: ['--tasks', writeTasks(home, 12, {}, 'rule')],
      answer: (pending) => answerAll(pending, deafPerson),
    });
    expect(rounds).toEqual(['target', 'optimizer', 'target', 'optimizer', 'target']);
    expect(report).toMatchObject({ accepted: false, proposals: [] });
  });
});

describe('the rounds of other nights', () => {
  it('are three where rules judge', async () => {
    using home = sleepHome();
    const flags = ['--tasks', writeTasks(home, 12, {}, 'rule'), '--no-evolve-memory'];
    expect((await wholeNight(home, { flags })).rounds).toEqual(['target', 'optimizer', 'target']);
  });

  it('are three without a gate, which asks nothing about held-out tasks', async () => {
    using home = sleepHome();
    const flags = ['--tasks', writeTasks(home, 12), '--no-evolve-memory', '--gate-mode', 'off'];
    const { rounds, report } = await wholeNight(home, { flags });
    expect(rounds).toEqual(['target', 'judge', 'optimizer']);
    expect(report.gateAction).toBe('greedy_applied');
  });

  it('ask for each of several attempts at a task', async () => {
    using home = sleepHome();
    const flags = ['--tasks', writeTasks(home, 12), '--no-evolve-memory', '--dream-rollouts', '3'];
    const { byRole } = await pendingOf(home, flags);
    expect(byRole).toEqual({ target: 6 * 2 + 6 * 3 });
  });
});

describe('the files of a handoff', () => {
  it('are private, outside the project, one a role, and hide secrets', async () => {
    using home = sleepHome();
    const secret = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
    const flags = ['--tasks', writeTasks(home, 12, { contextExcerpt: `My token is ${secret}.` })];
    const pending = await pendingOf(home, flags);
    expect(pending).toMatchObject({ handoffPending: true, byRole: { target: pending.prompts } });
    const [file] = pending.files;
    expect(file!.startsWith(home.state)).toBe(true);
    expect(readdirSync(home.shop)).toEqual(['.keep']);
    const names = readdirSync(join(pending.answersDir, '..'));
    expect(names.sort()).toEqual(['answers', 'target.json', 'target.md']);
    for (const name of ['target.json', 'target.md']) {
      const path = join(pending.answersDir, '..', name);
      expect(readFileSync(path, 'utf8')).not.toContain(secret);
      expect(home.mode(path)).toBe('600');
    }
    expect(home.mode(pending.answersDir)).toBe('700');
  });

  it('show references to the judge alone, every question of a wave at once, and again what has no usable answer', async () => {
    using home = sleepHome();
    const flags = ['--tasks', writeTasks(home, 12, { reference: 'THE-REFERENCE' }), '--no-evolve-memory'];
    const first = await pendingOf(home, flags);
    expect(readFileSync(first.files[0]!, 'utf8')).not.toContain('THE-REFERENCE');
    const [unanswered, empty] = questionsFor('target', first);
    await answerAll(first);
    rmSync(unanswered!.answer_file);
    writeFileSync(empty!.answer_file, ' \n');
    const second = await pendingOf(home, flags);
    expect(second.byRole).toEqual({ target: 2, judge: 2 * (first.prompts - 2) });
    const [target, judge] = second.files.map((file) => readFileSync(file, 'utf8'));
    expect(target).not.toContain('THE-REFERENCE');
    expect(judge).toContain('THE-REFERENCE');
    await answerAll(second);
    const wrong = questionsFor('judge', second)[0]!;
    writeFileSync(wrong.answer_file, 'A fine answer!\n');
    const third = await pendingOf(home, flags);
    expect(third.byRole).toEqual({ judge: 5 });
    expect(questionsFor('judge', third).find(({ id }) => id === wrong.id)).toMatchObject({
      problem: expect.stringContaining('expected JSON'),
    });
    expect(readFileSync(third.files[0]!, 'utf8')).toContain('cannot be used: expected JSON');
  });
});

describe('skillopt sleep run --target handoff', () => {
  it('says on a terminal what to answer and where, without asking for consent', async () => {
    using home = sleepHome();
    const { code, out, err } = await home.run(['run', '--target', 'handoff', '--tasks', writeTasks(home, 12)]);
    expect(code).toBe(6);
    expect(out).toMatch(/questions wait for an answer \(target \d+\):\n {2}\S+target\.md\n/);
    expect(out).toContain('run the same command again');
    expect(err).not.toContain('error');
    expect((await home.run(['status'])).out).toMatch(/night 1 waits for answers: \S+handoff; /);
    expect((await home.run(['status', '--short'])).out).toBe('sleep: questions wait\n');
    const one = { prompts: 1, byRole: { judge: 1 }, answersDir: '/a', files: ['/a/judge.md'] };
    expect(new HandoffPending(one as never).message).toBe('1 question waits for an answer (judge 1)');
  });

  it('lets one command work at a time', async () => {
    using home = sleepHome();
    const flags = ['--tasks', writeTasks(home, 12)];
    const ends = await Promise.all([home.run([...HANDOFF, ...flags]), home.run([...HANDOFF, ...flags])]);
    expect(ends.map(({ code }) => code).sort()).toEqual([5, 6]);
  });

  it.each([
    [['dry-run', '--target', 'handoff'], 'a dry run keeps nothing'],
    [['run', '--target', 'handoff', '--max-calls', '5'], 'calls no model'],
    [['run', '--target', 'simulated', '--judge', 'handoff'], 'expected handoff for the target'],
  ])('refuses what makes no sense: %j', async (argv, message) => {
    using home = sleepHome();
    const { code, err } = await home.run(argv);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
  });

  it('says in its plan that nothing is sent', async () => {
    using home = sleepHome();
    home.said();
    const { code, out } = await home.run(['run', '--target', 'handoff', '--plan']);
    expect(code).toBe(0);
    expect(out).toContain('No text is sent');
    expect(out).toContain('1 task, by rule');
  });
});
