import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FakeRequest, startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { type TaskRecord, tasksFileText } from '../../../../src/sleep/index.ts';
import { appends } from '../../../support/scripted-run.ts';
import { answerOf, type SleepHome, sleepHome } from '../../../support/sleep/sleep-home.ts';
import { doneTasks, RULE } from '../../sleep/night/night-world.ts';
import { nightAnswer, nightFlags } from './night-over-http.ts';
import { propose } from './pending.ts';

const DEPLOY = '---\nname: deploy\ndescription: How to deploy.\n---\n\n# Deploy\n\nBy hand.\n';
const MANAGED = 'shop/.claude/skills/skillopt-sleep-learned-project/SKILL.md';
const LIVE = '.claude/skills/deploy/SKILL.md';

const usingSkill = (skillHint: string, tasks: readonly TaskRecord[]) => tasks.map((task) => ({ ...task, skillHint }));

function homeWith(tasks: readonly TaskRecord[]): SleepHome {
  const home = sleepHome();
  home.write(LIVE, DEPLOY);
  const fields = { project: home.shop, transcriptSource: 'claude', nSessions: 3, targetSkillPath: '' };
  const text = tasksFileText({ ...fields, tasks: [...tasks] });
  home.write('shop/tasks.json', text.replace('"reviewed": false', '"reviewed": true'));
  return home;
}

describe('a night of several skills on the command line', () => {
  it('shows each of them, and adopt, status and rollback know them by name', async () => {
    await using server = await startFakeLLM(nightAnswer);
    using home = homeWith([
      ...doneTasks(),
      ...usingSkill('deploy', doneTasks('d')),
      ...usingSkill('ship', doneTasks('s', { train: 1, val: 0 })),
    ]);
    const { code, out } = await home.run(nightFlags(server.baseURL));
    expect(code).toBe(0);
    expect(out).toMatch(/skillopt-sleep-learned-project, proposed: \+\d+\.\d points/);
    expect(out).toMatch(/deploy, proposed: \+\d+\.\d points/);
    expect(out.match(/Proven better\. \d+ calls/g)).toHaveLength(2);
    expect(out.replaceAll('\n', ' ')).toContain(
      'The skill ship is not trained: no file of that name was found. Its task counts for skillopt-sleep-learned-project.',
    );
    expect(out).toContain(`cost: ${server.requests.length} calls`);
    expect(out).toContain('skillopt sleep adopt --night 1');
    expect((await home.run(['status', '--short'])).out).toBe('sleep: 2 proposals\n');
    const listed = await home.run(['adopt']);
    expect(listed.code).toBe(2);
    expect(listed.out).toContain('skillopt sleep adopt --night 1 --skill deploy');
    expect(listed.out).toContain('all of them: npx skillopt sleep adopt --night 1\n');
    expect((await home.run(['adopt', '--skill', 'deploy'])).code).toBe(0);
    expect(home.read(LIVE)).toContain(RULE);
    expect(existsSync(join(home.path, MANAGED))).toBe(false);
    const rest = await home.run(['adopt']);
    expect(rest.code).toBe(0);
    expect(rest.out).toContain('skillopt sleep rollback --night 1 --skill skillopt-sleep-learned-project');
    expect((await home.run(['rollback', '--skill', 'deploy'])).code).toBe(0);
    expect(home.read(LIVE)).toBe(DEPLOY);
    expect(home.read(MANAGED)).toContain(RULE);
  });

  it('review takes one of them, by its name', async () => {
    await using server = await startFakeLLM(nightAnswer);
    using home = homeWith([...doneTasks(), ...usingSkill('deploy', doneTasks('d'))]);
    await answerOf(home, nightFlags(server.baseURL));
    const several = await home.run(['review', '--night', '1']);
    expect(several.code).toBe(2);
    expect(several.out).toContain('skillopt sleep review --night 1 --skill deploy');
    const listed = await answerOf(home, ['review', '--skill', 'deploy']);
    expect(listed).toMatchObject({ proposal: '1.deploy', changes: [{ kind: 'add', rule: RULE.slice(2) }] });
    const dropped = await answerOf(home, ['review', '--skill', 'deploy', '--drop-change', '1']);
    expect(dropped).toMatchObject({ dropped: '1.deploy' });
    expect((await home.run(['adopt', '--all-skills'])).code).toBe(0);
    expect(home.read(LIVE)).toBe(DEPLOY);
  });
});

describe('a night from sessions that were done with two skills', () => {
  const NOUNS =
    'anchor basket candle dragon engine feather garden hammer island jacket kettle ladder magnet needle'.split(' ');
  /** What the person wants of every answer that is given with a skill, and the rule that says so. */
  const WANTED = { deploy: 'DEPLOYED', review: 'REVIEWED' } as const;
  type Skill = keyof typeof WANTED;
  const SKILLS = Object.keys(WANTED) as Skill[];
  const ruleOf = (skill: Skill) => `- End every answer with ${WANTED[skill]}.`;
  const fileOf = (skill: Skill) => `.claude/skills/${skill}/SKILL.md`;
  const textOf = (skill: Skill) =>
    `---\nname: ${skill}\ndescription: How to ${skill}.\n---\n\n# How to ${skill}\n\nBy hand.\n`;
  const asked = (skill: Skill, noun: string) => `Please ${skill} the ${noun} of ${skill}-${noun} ${skill}${noun}`;

  function homeOfTwo(): SleepHome {
    const home = sleepHome();
    for (const skill of SKILLS) {
      home.write(fileOf(skill), textOf(skill));
      for (const noun of NOUNS) {
        const turns = [
          ['user', asked(skill, noun)],
          ['assistant', 'It is so.'],
          ['user', `No: say ${WANTED[skill]} at the end`],
          ['assistant', 'Well.'],
        ] as const;
        home.said({ id: `${skill}-${noun}`, turns, skill });
      }
    }
    return home;
  }

  /** One model in all roles: it finds what was asked, does what the documents say, and proposes what is missing in what it reads. */
  function answer({ messages }: FakeRequest): string {
    const [system, said] = [messages[0]!.content, messages.at(-1)!.content];
    const skill =
      SKILLS.find((name) => [`Please ${name}`, ruleOf(name)].some((text) => said.includes(text))) ?? 'deploy';
    if (system.startsWith('You read what a person asked')) return JSON.stringify({ tasks: [minedFrom(said, skill)] });
    if (!system.startsWith('You are a coding agent at work'))
      return JSON.stringify({ ...appends(ruleOf(skill)), ...appends(ruleOf(skill)).patch });
    return ['It is so.', ...SKILLS.filter((name) => system.includes(ruleOf(name))).map((name) => WANTED[name])].join(
      ' ',
    );
  }

  const minedFrom = (said: string, skill: Skill) => ({
    intent: said.match(/Please .*/)![0],
    checks: [{ op: 'contains', arg: WANTED[skill] }],
    satisfied: false,
  });

  it('each has a proposal of its own, proven by its own tasks, within the error of one night', async () => {
    await using server = await startFakeLLM(answer);
    using home = homeOfTwo();
    const report = await answerOf(home, ['run', '--target', `compatible:m@${server.baseURL}`, '--quiet']);
    expect(report).toMatchObject({ nSessions: 28, accepted: true });
    expect(report.proposals.map(({ id }: { id: string }) => id).sort()).toEqual(['1.deploy', '1.review']);
    const { tasks } = JSON.parse(readFileSync(join(report.folder, 'night.json'), 'utf8')) as { tasks: TaskRecord[] };
    const hints = new Map(tasks.map(({ id, skillHint }) => [id, skillHint]));
    for (const skill of SKILLS) {
      const proposed = readFileSync(`${report.folder}.${skill}/proposed.md`, 'utf8');
      expect(SKILLS.filter((name) => proposed.includes(ruleOf(name)))).toEqual([skill]);
      expect(proposed.startsWith(textOf(skill).trimEnd())).toBe(true);
      expect(home.read(fileOf(skill))).toBe(textOf(skill));
      const trial = report.gateTrials.find(({ named }: { named: string }) => named === skill);
      const judges = trial.taskDeltas.map(({ id }: { id: string }) => hints.get(id));
      expect(judges.length).toBeGreaterThanOrEqual(6);
      expect(new Set(judges)).toEqual(new Set([skill]));
    }
    const errors = report.gateTrials.flatMap(({ error }: { error?: number }) => error ?? []);
    expect(errors.reduce((sum: number, error: number) => sum + error, 0)).toBeLessThanOrEqual(0.05 + 1e-12);
  });
});

describe('skillopt sleep review of an existing skill', () => {
  it('measures what is kept by the tasks of that skill alone', async () => {
    await using server = await startFakeLLM(nightAnswer);
    using home = homeWith([...doneTasks(), ...usingSkill('ours', doneTasks('d'))]);
    home.write('shop/.claude/skills/ours/SKILL.md', 'By hand.\n');
    await answerOf(home, nightFlags(server.baseURL));
    const two = `${RULE}\n- Be careful with every detail.`;
    await propose(home, { name: '.claude/skills/ours/SKILL.md', id: '1.ours', rule: two });
    const before = server.requests.length;
    const flags = ['--target', `compatible:m@${server.baseURL}`, '--yes', '--quiet'];
    const { changed } = await answerOf(home, ['review', '--skill', 'ours', '--drop-change', '2', ...flags]);
    expect(changed).toBe(true);
    const asked = server.requests.slice(before).map(({ messages }) => messages.map(({ content }) => content).join());
    expect(asked.length).toBeGreaterThan(0);
    for (const text of asked) expect(text).toMatch(/By hand\..*d-val-/s);
    await home.run(['adopt', '--skill', 'ours']);
    expect(home.read('shop/.claude/skills/ours/SKILL.md')).toContain(RULE);
    expect(home.read('shop/.claude/skills/ours/SKILL.md')).not.toContain('Be careful');
  });
});

describe('skillopt sleep rollback', () => {
  it('of a named skill leaves what was adopted with it', async () => {
    using home = sleepHome();
    for (const name of ['a', 'b']) {
      home.write(`shop/skills/${name}/SKILL.md`, name);
      await propose(home, { name: `skills/${name}/SKILL.md`, id: `1.${name}` });
    }
    await home.run(['adopt', '--night', '1']);
    expect((await home.run(['rollback', '--skill', 'b'])).code).toBe(0);
    expect([home.read('shop/skills/a/SKILL.md') === 'a', home.read('shop/skills/b/SKILL.md')]).toEqual([false, 'b']);
    const { code, err } = await home.run(['rollback', '--skill', 'c']);
    expect([code, err.split('\n')[0]]).toEqual([2, 'error: nothing was adopted for c']);
    expect((await home.run(['rollback'])).code).toBe(0);
    expect(home.read('shop/skills/a/SKILL.md')).toBe('a');
  });
});

describe('skillopt sleep run --skill', () => {
  it.each(['deploy', '../.claude/skills/deploy', '../.claude/skills/deploy/SKILL.md'])(
    '%s improves that skill instead of the managed one',
    async (named) => {
      await using server = await startFakeLLM(nightAnswer);
      using home = homeWith(doneTasks());
      const report = await answerOf(home, nightFlags(server.baseURL, '--skill', named));
      expect(report.proposals).toMatchObject([{ id: '1', path: join(home.path, LIVE) }]);
      expect((await home.run(['adopt', '--skill', 'deploy'])).code).toBe(0);
      expect(home.read(LIVE)).toMatch(/By hand\.\n.*DONE/s);
      expect(existsSync(join(home.path, MANAGED))).toBe(false);
    },
  );

  it.each([
    ['ship', /got ship: no file of that name was found/, /There are: deploy\. Or give a path\./],
    ['kit:deploy', /got kit:deploy: it belongs to a plugin/, /There are: deploy/],
    ['node_modules/kit/skills/x', /lies in a package, whose updates would undo/, /Copy the skill/],
    ['skills/none', /skills\/none\/SKILL\.md is not there/, /path of its SKILL\.md/],
  ])('%s is refused, and no model is asked', async (named, message, hint) => {
    await using server = await startFakeLLM(nightAnswer);
    using home = homeWith(doneTasks());
    home.write('shop/node_modules/kit/skills/x/SKILL.md', 'Of others.\n');
    const { code, err } = await home.run(nightFlags(server.baseURL, '--skill', named));
    expect(code).not.toBe(0);
    expect(err).toMatch(message);
    expect(err).toMatch(hint);
    expect(server.requests).toHaveLength(0);
  });
});
