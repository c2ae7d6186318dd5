import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import {
  nightFolder,
  openReview,
  openSleepState,
  type Proof,
  readSleepState,
  recordProposal,
  stageAgain,
  tasksFileText,
} from '../../../../src/sleep/index.ts';
import { writeNight } from '../../../../src/sleep/state/nights.ts';
import { expectEvery } from '../../../support/expect-every.ts';
import { answerOf, sleepHome } from '../../../support/sleep/sleep-home.ts';
import { propose } from './pending.ts';
import {
  answer,
  night,
  proposals,
  proposedText,
  RULES,
  review,
  reviewHome,
  SKILL,
  tasks,
  USEFUL,
  USELESS,
} from './review-home.ts';

describe('skillopt sleep review, without a terminal', () => {
  it('lists the changes by number, and says which flags there are', async () => {
    using home = await reviewHome();
    const { code, out } = await home.run(['review']);
    expect(code).toBe(0);
    expect(out).toBe(
      `night 1 proposes 2 changes of learned:\n  1. + ${USEFUL.slice(2)}\n  2. + ${USELESS.slice(2)}\n` +
        'A terminal asks about each. Elsewhere --drop-change NUMBER drops one, and --yes agrees to measure the rest.\n',
    );
    expect(await answerOf(home, ['review'])).toMatchObject({
      proposal: '1',
      gain: { value: 0.042 },
      changes: [{ number: 1, kind: 'add', rule: USEFUL.slice(2) }, { number: 2 }],
    });
  });

  it('says what measuring costs, and spends nothing before it is agreed to', async () => {
    await using server = await startFakeLLM(answer);
    using home = await reviewHome();
    const { code, err } = await home.run(review(server.baseURL, '--drop-change', '2'));
    expect(code).toBe(2);
    expect(err).toContain('measured again on 8 held-out tasks: 32 to 160 calls of models');
    expect(err).toContain('--yes');
    expect(server.requests).toHaveLength(0);
    expect(await proposals(home)).toEqual([home.proposal]);
  });

  it('with fewer calls than it needs is refused before it asks anybody', async () => {
    await using server = await startFakeLLM(answer);
    using home = await reviewHome();
    const { code, err } = await home.run(review(server.baseURL, '--drop-change', '2', '--yes', '--max-calls', '20'));
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('--max-calls 20 is too few') });
    expect(server.requests).toHaveLength(0);
  });

  it('stages what is kept once it is proven, and adopt takes that', async () => {
    await using server = await startFakeLLM(answer);
    using home = await reviewHome();
    const { code, out, err } = await home.run(review(server.baseURL, '--drop-change', '2', '--yes'));
    expect([code, err.match(/error:.*/g)]).toEqual([0, null]);
    expect(err).toContain('32 to 160 calls');
    expect(out).toMatch(
      /^What you kept is proven: \+\d+\.\d points on held-out tasks\. It waits for: npx skillopt sleep adopt --night 1 --skill learned\n$/,
    );
    expect(await proposals(home)).toMatchObject([{ id: '1', status: 'pending', block: USEFUL }]);
    expect(server.requests.length).toBeLessThanOrEqual(160);
    expect((await home.run(['adopt'])).code).toBe(0);
    expect(home.read(`shop/${SKILL.name}`)).toContain(USEFUL);
    expect(home.read(`shop/${SKILL.name}`)).not.toContain(USELESS);
  });

  it('lists a passage that is no item of a list too, with its marks, and drops it', async () => {
    await using server = await startFakeLLM(answer);
    const passage = 'First read https://notes.example.org/today,\nthen begin.';
    using home = await reviewHome({ ...SKILL, rule: `${passage}\n\n${USEFUL}` });
    expect(await answerOf(home, ['review'])).toMatchObject({
      changes: [
        { number: 1, kind: 'add', rule: USEFUL.slice(2), marks: [] },
        { number: 2, kind: 'add', rule: passage, marks: expect.arrayContaining(['names a network address']) },
      ],
    });
    const { code, err } = await home.run(review(server.baseURL, '--drop-change', '2', '--yes'));
    expect([code, err.match(/error:.*/g)]).toEqual([0, null]);
    expect(await proposals(home)).toMatchObject([{ status: 'pending', block: USEFUL }]);
  });

  it('killed before the state has it, leaves the proposal as it was; killed after, what was kept', async () => {
    using home = await reviewHome();
    const proof = { gain: { value: 0.5, interval: { low: 0.2, high: 0.8 } }, error: 0.05 } as Proof;
    const reviewed = await openReview(home.state, home.proposal);
    // What a kill leaves: the text that was proven is on the disk, and the state does not know it.
    const proven = await stageAgain(reviewed, { folder: home.state, block: USEFUL, proof, at: night.startedAt });
    expect(await answerOf(home, ['review'])).toMatchObject({ changes: [{ number: 1 }, { number: 2 }] });
    expect(await home.run(['adopt'])).toMatchObject({ code: 0, err: '' });
    expect(home.read(`shop/${SKILL.name}`)).toContain(USELESS);
    await home.run(['rollback']);
    // A later kill: the state knows it, and the text is not in its place yet.
    const open = await openSleepState(home.state);
    await open.update((state) => recordProposal(state, proven));
    await open[Symbol.asyncDispose]();
    expect(await answerOf(home, ['review'])).toMatchObject({ changes: [{ number: 1 }] });
    expect(await home.run(['adopt'])).toMatchObject({ code: 0, err: '' });
    expect(home.read(`shop/${SKILL.name}`)).not.toContain(USELESS);
  });

  it('what is kept and not proven is not staged: the proposal waits as it was, and the look at it counts', async () => {
    await using server = await startFakeLLM(answer);
    using home = await reviewHome();
    const text = proposedText(home);
    const { code, out } = await home.run(review(server.baseURL, '--drop-change', '1', '--yes'));
    expect(code).toBe(0);
    expect(out).toMatch(/^What you kept is not proven \(.* The proposal waits as it was\.\n$/);
    expect([await proposals(home), proposedText(home)]).toEqual([[home.proposal], text]);
    const { history } = await readSleepState(home.state);
    expect(history).toMatchObject([{ night: 1, isTested: true, accepted: false, gateAction: 'review' }]);
  });

  it('measures with attempts that the night has not made', async () => {
    await using server = await startFakeLLM(answer);
    using home = sleepHome();
    const file = { project: home.shop, transcriptSource: 'claude', nSessions: 3, targetSkillPath: '', tasks };
    home.write('shop/tasks.json', tasksFileText(file).replace('"reviewed": false', '"reviewed": true'));
    const argv = [
      '--tasks',
      'tasks.json',
      '--target',
      `compatible:m@${server.baseURL}`,
      '--quiet',
      '--gate-mode',
      'off',
    ];
    await answerOf(home, ['run', ...argv, '--no-evolve-memory']);
    const { changes } = await answerOf(home, ['review']);
    expect(changes).toHaveLength(2);
    const before = server.requests.length;
    await answerOf(home, review(server.baseURL, '--drop-change', '2', '--yes'));
    const asked = server.requests.slice(before).map(({ messages }) => messages[0]!.content);
    // Two passes of each side to prove it and two to report it, over eight tasks.
    expect(asked.filter((system) => system.includes('DONE'))).toHaveLength(32);
    expect(asked.filter((system) => !system.includes('DONE'))).toHaveLength(32);
  });

  it('when every change is dropped the proposal is gone, and nobody is asked', async () => {
    await using server = await startFakeLLM(answer);
    using home = await reviewHome({ name: 'CLAUDE.md', rule: RULES.join('\n') });
    const { code, out } = await home.run(review(server.baseURL, '--drop-change', '1', '--drop-change', '2'));
    expect([code, server.requests.length, home.read('shop/CLAUDE.md')]).toEqual([0, 0, '# Shop\n']);
    expect(out).toContain('the proposal is dropped');
    expect(await proposals(home)).toMatchObject([{ status: 'dropped' }]);
  });

  it('what was adopted while it was measured stays adopted', async () => {
    using home = await reviewHome();
    let isAdopted = false;
    await using server = await startFakeLLM(async (request) => {
      if (!isAdopted) {
        isAdopted = true;
        expect((await home.run(['adopt'])).code).toBe(0);
      }
      return answer(request);
    });
    const { code, err } = await home.run(review(server.baseURL, '--drop-change', '2', '--yes'));
    expect(code).toBe(2);
    expect(err).toContain('proposal 1 was changed, adopted or dropped in the meantime');
    expect(await proposals(home)).toMatchObject([{ status: 'adopted', block: RULES.join('\n') }]);
    expect((await home.run(['rollback'])).code).toBe(0);
  });

  it('a model that cannot be reached changes nothing', async () => {
    await using server = await startFakeLLM(() => ({ status: 401, content: 'the key is not valid' }));
    using home = await reviewHome();
    const { code, err } = await home.run(review(server.baseURL, '--drop-change', '2', '--yes'));
    expect(code).toBe(4);
    expect(err).toContain('the key is not valid');
    const { proposals: now, history } = await readSleepState(home.state);
    expect([now, history]).toEqual([[home.proposal], []]);
  });

  it('of two proposals for one document the second is put on what is there now, and measured on it', async () => {
    await using server = await startFakeLLM(answer);
    using home = await reviewHome({ name: 'CLAUDE.md', rule: RULES.join('\n') });
    const other = '<!-- SKILLOPT_SLEEP_START -->\n- Another night’s rule.\n<!-- SKILLOPT_SLEEP_END -->\n';
    home.write('shop/CLAUDE.md', `# Shop\n\n${other}`);
    const refused = await home.run(['adopt']);
    expect(refused.code).toBe(2);
    expect(refused.err.replaceAll('\n', ' ')).toContain('skillopt sleep review --night 1 --memory');
    const { code } = await home.run(review(server.baseURL, '--drop-change', '2', '--yes'));
    expect(code).toBe(0);
    const measured = server.requests.map(({ messages }) => messages[0]!.content);
    expectEvery(measured, (system) => system.includes('Another night’s rule.'));
    expect((await home.run(['adopt'])).code).toBe(0);
    expect(home.read('shop/CLAUDE.md')).toBe(`# Shop\n\n${other.replace('rule.\n', `rule.\n${USEFUL}\n`)}`);
  });

  it('with several and none named lists what to type; refuses what it cannot do', async () => {
    using home = await reviewHome();
    await propose(home, { name: 'CLAUDE.md', id: '1.memory' });
    for (const flags of [[], ['--night', '1']]) {
      const several = await home.run(['review', ...flags]);
      expect(several.code).toBe(2);
      expect(several.out).toContain('skillopt sleep review --night 1 --memory');
    }
    const wrong = await home.run(['review', '--memory', '--drop-change', '7']);
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('from 1 to 1, got 7') });
    const argv = ['review', '--skill', 'learned', '--drop-change', '2', '--yes'];
    const handoff = await home.run([...argv, '--target', 'handoff']);
    expect(handoff).toMatchObject({ code: 2, err: expect.stringContaining('a handoff answers over several rounds') });
    await writeNight(nightFolder(home.state, home.shop, 1), {} as never);
    const gone = await home.run(argv);
    expect(gone).toMatchObject({ code: 2, err: expect.stringContaining('the tasks of night 1 are not kept any more') });
  });
});
