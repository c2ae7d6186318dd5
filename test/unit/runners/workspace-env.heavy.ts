import { createStageDeps, runRollout } from 'skillopt';
import { scripted } from 'skillopt/models';
import { WorkspaceTask, type WorkspaceTaskInput, workspaceEnv } from 'skillopt/runners';
import { describe, expect, it } from 'vitest';
import { isMissing } from '../../support/machine.ts';
import { sandbox, shellAgent, skillThatDoes } from './shell-agent.ts';

/** What becomes of one task, done by an agent that does what the skill says. */
async function attempt(task: Partial<WorkspaceTaskInput>, lines: string[], agentOptions = {}, judge?: string[]) {
  const item = WorkspaceTask.parse({ id: 'one', prompt: 'Do it.', ...task });
  const env = workspaceEnv({ name: 'shop', items: { val: [item] }, folder: '/nonexistent', sandbox });
  const { agent, calls } = shellAgent(agentOptions);
  const none = scripted('none', () => ({ text: '' }));
  const models = {
    target: none,
    optimizer: none,
    ...(judge ? { judge: scripted('judge', () => ({ text: judge[0]! })) } : {}),
  };
  const deps = createStageDeps({ ...models, agent, maxErroredShare: 1 });
  const [result] = await runRollout({ env, skill: skillThatDoes(...lines), items: [item] }, deps);
  return { ...result!, calls };
}

describe('a task in a workspace', () => {
  it('is done where the files are, and judged by a command that finds what was made', async () => {
    const task = { files: { 'in.txt': 'seven\n' }, verify: 'grep -q seven out.txt' };
    expect(await attempt(task, ['cp in.txt out.txt'])).toMatchObject({ hard: 1, soft: 1, nTurns: 2 });
    const failed = await attempt(task, ['echo six > out.txt']);
    expect(failed).toMatchObject({ hard: 0, failReason: expect.stringContaining('exit code 1') });
    expect(failed.extras).toMatchObject({
      skillsLoaded: ['shop'],
      ended: 'done',
      diff: { changes: [{ path: 'out.txt' }] },
    });
    expect(JSON.stringify(failed.conversation)).toContain('echo six > out.txt');
  });

  it('has no score when its setup fails: nobody has tried it', async () => {
    const { calls, ...result } = await attempt({ setup: 'echo no disk >&2; exit 3', verify: 'true' }, ['true']);
    expect(result).toMatchObject({ errored: true, failReason: expect.stringContaining('no disk') });
    expect(calls).toEqual([]);
  });

  it('has no score when its verifier gives no verdict', async () => {
    for (const verify of [
      'no-such-program',
      'kill -9 $$',
      { command: 'echo yes', verdict: 'json' as const },
      { command: 'true', verdict: 'reward' as const },
    ])
      expect(await attempt({ verify }, ['true'])).toMatchObject({ errored: true, unjudged: true });
  });

  it.each([
    ['json', `echo '{"hard": 0, "soft": 0.25, "reason": "half"}'`, { hard: 0, soft: 0.25, failReason: 'half' }],
    ['json', 'echo 1', { hard: 1, soft: 1 }],
    ['reward', 'echo 0.5 > "$SKILLOPT_VERDICT_DIR/reward.txt"', { hard: 0, soft: 0.5 }],
    ['reward', `echo '{"a": 1, "b": 1}' > "$SKILLOPT_VERDICT_DIR/reward.json"`, { hard: 1, soft: 1 }],
    [
      'junit',
      `echo '<testsuites><testsuite><testcase name="a"/><testcase name="b"><failure/></testcase><testcase name="c"><skipped/></testcase></testsuite></testsuites>' > "$SKILLOPT_VERDICT_DIR/junit.xml"`,
      { hard: 0, soft: 0.5, failReason: '1 of 2 tests pass' },
    ],
  ] as const)('is scored by %s: %s', async (verdict, command, expected) => {
    expect(await attempt({ verify: { command, verdict } }, ['true'])).toMatchObject(expected);
  });

  it('row 15: an agent that edits the tests, links them away or writes the verdict changes nothing', async () => {
    const verify = {
      command: 'sh tests/check.sh',
      files: { 'tests/check.sh': 'grep -q seven out.txt\n' },
      report: 'report.xml',
    };
    const tampering = [
      'mkdir -p tests && echo true > tests/check.sh && chmod 444 tests/check.sh',
      'ln -s /tmp tests',
      'mkdir -p tests && ln -s /etc/passwd tests/check.sh',
      'mkdir -p tests/check.sh/deep',
    ];
    const failed = { hard: 0, failReason: 'exit code 1' }; // of our grep, which found another word
    for (const line of tampering)
      expect(await attempt({ verify }, [line, 'echo six > out.txt']), line).toMatchObject(failed);
    const work = [tampering.at(-1)!, 'echo seven > out.txt'];
    expect(await attempt({ verify }, work)).toMatchObject({ hard: 1 });
    const junit = { command: 'true', verdict: 'junit' as const, report: 'report.xml' };
    const forged = `echo '<testsuite><testcase/></testsuite>' > report.xml`;
    expect(await attempt({ verify: junit }, [forged])).toMatchObject({ errored: true });
    const reward = { command: 'true', verdict: 'reward' as const };
    expect(
      await attempt({ verify: reward }, [
        'mkdir -p logs/verifier; echo 1 > logs/verifier/reward.txt; echo 1 > reward.txt',
      ]),
    ).toMatchObject({ errored: true });
  });

  it.skipIf(isMissing('python3'))(
    'runs what stands in its tests, and no compiled file that the agent left for them',
    async () => {
      const files = { 'check.py': 'import helper, sys\nsys.exit(helper.CODE)\n', 'helper.py': 'CODE = 3\n' };
      const unchecked = 'py_compile.PycInvalidationMode.UNCHECKED_HASH';
      const compile = `python3 -c "import py_compile; py_compile.compile('helper.py', invalidation_mode=${unchecked})"`;
      const lines = ['echo CODE = 0 > helper.py', compile, 'ls __pycache__/helper.*.pyc'];
      const failed = { hard: 0, failReason: expect.stringContaining('exit code 3') };
      expect(await attempt({ verify: { command: 'python3 check.py', files } }, lines)).toMatchObject(failed);
      const own = { 'made.py': 'CODE = 3\n' };
      const made = { 'check.py': 'import made, sys\nsys.exit(made.CODE)\n' };
      const verify = { command: 'python3 check.py', files: made };
      expect(await attempt({ files: own, verify }, ['echo CODE = 0 > made.py'])).toMatchObject({ hard: 1 });
    },
  );

  it('checks what its assertions say, and is as good as the share that hold', async () => {
    const assertions = [
      { type: 'output_contains', value: 'DONE' },
      { type: 'output_not_matches', value: '^fail' },
      { type: 'file_exists', path: 'a.txt' },
      { type: 'file_contains', path: 'a.txt', value: 'seven' },
      { type: 'file_not_exists', path: 'b.txt' },
      { type: 'expect_tools', value: 'shell' },
      { type: 'reject_tools', value: ['browser'] },
      { type: 'max_turns', value: 2 },
      { type: 'max_tokens', value: 110 },
      { type: 'skill_used' },
      { type: 'exit_success' },
      { type: 'diff_only', value: '*.txt' },
    ] as const;
    expect(await attempt({ assertions: [...assertions] }, ['echo seven > a.txt'])).toMatchObject({ hard: 1, soft: 1 });
    const failed = await attempt({ assertions: [...assertions] }, ['mkdir d; echo six > d/c; touch b.txt', 'true']);
    expect(failed).toMatchObject({ hard: 0, soft: 1 - 5 / 12 });
    for (const words of ['a.txt is not there', 'b.txt is there', 'it took 3 turns', 'it changed d/c'])
      expect(failed.failReason).toContain(words);
  });

  it('counts a limit of the agent as a result, with its reason', async () => {
    const run = { ended: 'timeout' as const };
    const result = await attempt({ verify: 'false' }, ['true'], { run });
    expect(result).toMatchObject({ hard: 0, failReason: expect.stringMatching(/^it was ended: its time was up; /) });
    expect(result.errored).toBeUndefined();
  });

  it('says when the skill was never loaded', async () => {
    expect(await attempt({ verify: 'true' }, ['true'], { loads: () => false })).toMatchObject({
      hard: 1,
      skillUnread: true,
    });
  });
});
