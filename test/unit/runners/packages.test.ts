import { memoryRun, type RunEvent, type SkillOptConfigInput, SkillOptTrainer } from 'skillopt';
import { scripted } from 'skillopt/testing';
import { openSandbox } from 'skillopt/workspaces';
import { describe, expect, it } from 'vitest';
import type { AgentRunner, SkillPackage } from '../../../src/core/contracts/index.ts';
import { joinPackage, splitPackage } from '../../../src/core/document/index.ts';
import { WorkspaceTask, workspaceEnv } from '../../../src/public/runners.ts';

const SKILL = '---\nname: tool\ndescription: Runs the tool.\n---\n\nRun scripts/run.sh.\n';
const BASE: SkillPackage = {
  files: { 'SKILL.md': SKILL, 'scripts/run.sh': 'echo one\r\n', 'references/a.md': 'a\n', 'assets/x.txt': 'x' },
  binaries: { 'assets/logo.png': new Uint8Array([0xff]) },
};
const TRAINED = { 'SKILL.md': SKILL, 'scripts/run.sh': 'echo one\n', 'references/a.md': 'a\n' };
const parts: SkillOptConfigInput['parts'] = ['body', 'references', 'scripts'];

/** Loads the skill, names its script, and says what the script would. Keeps what it was given. */
function fakeAgent() {
  const given: SkillPackage[] = [];
  const agent: AgentRunner = {
    id: 'fake-agent',
    async run({ skills: [skill] }) {
      given.push(skill!);
      const script = skill!.files['scripts/run.sh'] ?? '';
      const call = { type: 'tool-call', id: '1', tool: 'bash', input: { command: 'sh scripts/run.sh' } } as const;
      const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0 };
      const seen = { skillsOffered: [], skillsLoaded: ['tool'] };
      return { text: script, ended: 'done', turns: 1, steps: [call], ...seen, usage } as unknown as Awaited<
        ReturnType<AgentRunner['run']>
      >;
    },
  };
  return { agent, given };
}

const task = (id: string) =>
  WorkspaceTask.parse({ id, prompt: 'do it', assertions: [{ type: 'output_contains', value: 'echo two' }] });

async function train(edits: readonly object[], config: SkillOptConfigInput = {}) {
  const { agent, given } = fakeAgent();
  const env = workspaceEnv({
    name: 'packages',
    items: { train: [task('t1')], val: [task('v1')] },
    folder: '.',
    sandbox: openSandbox('none'),
    package: BASE,
  });
  const store = memoryRun();
  const warnings: string[] = [];
  const trainer = new SkillOptTrainer({
    env: env as never,
    agent,
    target: scripted('none', () => ''),
    optimizer: scripted('optimizer', () => JSON.stringify({ patch: { reasoning: '', edits } })),
    initialSkill: joinPackage(TRAINED),
    observers: [{ onWarning: (message) => void warnings.push(message) }],
    config: { parts, numEpochs: 1, gate: 'strict', proposalsPerBatch: 1, evalTest: false, finalPasses: 0, ...config },
    store,
  });
  await trainer.train();
  const action = store.events.find(
    (event): event is Extract<RunEvent, { type: 'step-end' }> => event.type === 'step-end',
  );
  const [record] = JSON.parse(store.views['history.json']!);
  const best = splitPackage(store.views['best_skill.md']!);
  return { given, action: action!.action, reason: record.verdict_reason as string | undefined, best, warnings };
}

const script = (content: string) => ({ op: 'replace', file: 'scripts/run.sh', target: 'echo one', content });

describe('a package in a workspace', () => {
  it('is installed with its trained files, in the form of the folder, and with all that is not trained', async () => {
    const { given, action, best } = await train(
      [
        script('echo two'),
        { op: 'create_file', file: 'references/b.md', content: 'b' },
        { op: 'delete_file', file: 'references/a.md' },
      ],
      { editBudget: 9 },
    );
    expect(action).toBe('accept_new_best');
    expect(given[0]).toEqual({ ...BASE });
    expect(given.at(-1)!.files).toEqual({
      'SKILL.md': SKILL,
      'scripts/run.sh': 'echo two\r\n',
      'references/b.md': 'b\n',
      'assets/x.txt': 'x',
    });
    expect(given.at(-1)!.binaries).toEqual(BASE.binaries);
    expect(best['scripts/run.sh']).toBe('echo two\n');
  });

  it('is told of by the files that no attempt opened or ran', async () => {
    const { warnings } = await train([script('echo two')]);
    expect(warnings.filter((one) => one.includes('No attempt'))).toEqual([
      expect.stringContaining('No attempt opened or ran 1 file of the package: references/a.md.'),
    ]);
  });
});

describe('a candidate is not measured', () => {
  const other = (file: string, content: string) => ({ op: 'create_file', file, content });

  it.each([
    ['a shell script that does not parse', script('if then'), /^scripts\/run.sh does not parse: .*/],
    ['one of Python', other('scripts/x.py', 'def f(:\n  pass'), /^scripts\/x.py does not parse: .*SyntaxError/],
    ['one of Node', other('scripts/x.mjs', 'const = 1'), /^scripts\/x.mjs does not parse: .*SyntaxError/],
    [
      'one that fails its own check',
      other('scripts/x.sh', 'test "$1" = --self-check && { echo "no tool" >&2; exit 3; }'),
      /^scripts\/x.sh fails its own check: no tool/,
    ],
    ['JSON that is none', other('references/x.json', '{"a": }'), /^references\/x.json is not JSON: /],
    ['YAML that is none', other('references/x.yaml', 'a: b: c'), /^references\/x.yaml is not YAML: /],
  ])('%s', async (_name, edit, reason) => {
    const { given, action, reason: said } = await train([edit]);
    expect(action).toBe('skip_invalid');
    expect(said).toMatch(reason);
    expect(given).toHaveLength(2); // the batch and validation, under the initial skill
  });

  it('but one whose check passes is, and its check sees nothing of ours', async () => {
    const check = 'if [ "$1" = --self-check ]; then test -z "$SKILLOPT_SECRET" && test -f SKILL.md; fi';
    process.env.SKILLOPT_SECRET = 'x';
    const { action } = await train([script('echo two'), other('scripts/x.sh', check)], { editBudget: 9 });
    delete process.env.SKILLOPT_SECRET;
    expect(action).toBe('accept_new_best');
  });
});
