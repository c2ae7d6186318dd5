import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type FakeRequest, startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { writeBlock } from '../../../../src/core/document/index.ts';
import { type TaskRecord, tasksFileText } from '../../../../src/sleep/index.ts';
import { answerOf, type SleepHome, sleepHome } from '../../../support/sleep/sleep-home.ts';
import { doneTasks, RULE } from '../../sleep/night/night-world.ts';
import { nightAnswer, nightFlags } from './night-over-http.ts';

const USER_WIDE = '.claude/skills/skillopt-sleep-learned/SKILL.md';
const OF_SHOP = 'shop/.claude/skills/skillopt-sleep-learned-project/SKILL.md';

const ofProject = (project: string, tasks: readonly TaskRecord[]) => tasks.map((task) => ({ ...task, project }));

function writeTasks(home: SleepHome, tasks: readonly TaskRecord[]): void {
  const fields = { project: home.shop, transcriptSource: 'claude', nSessions: 3, targetSkillPath: '' };
  const text = tasksFileText({ ...fields, tasks: [...tasks] });
  home.write('shop/tasks.json', text.replace('"reviewed": false', '"reviewed": true'));
}

const half = { train: 2, val: 6 };

/** As `nightAnswer`, but what the rule asks for helps only tasks of the shop. */
const helpingShop = (request: FakeRequest) =>
  request.messages.at(-1)!.content.includes('blog-') ? 'As asked.' : nightAnswer(request);

describe('rules that a night learns', () => {
  it('from one project are proposed for that project, whatever the user has for all of them', async () => {
    await using server = await startFakeLLM(nightAnswer);
    using home = sleepHome();
    home.write(USER_WIDE, '---\nname: skillopt-sleep-learned\ndescription: d\n---\n\nMine.\n');
    const before = home.read(USER_WIDE);
    writeTasks(home, [
      ...ofProject(home.shop, doneTasks()),
      ...ofProject(join(home.shop, 'web'), doneTasks('w', half)),
    ]);
    const report = await answerOf(home, nightFlags(server.baseURL));
    expect(report.proposals).toMatchObject([{ id: '1', path: join(home.path, OF_SHOP) }]);
    const adopted = await home.run(['adopt']);
    expect(adopted).toMatchObject({ code: 0, out: expect.stringMatching(/Claude Code, .* see its name/) });
    expect(home.read(OF_SHOP)).toContain(RULE);
    expect(home.read(OF_SHOP)).toMatch(/^---\nname: skillopt-sleep-learned-project\n/);
    expect(home.read(USER_WIDE)).toBe(before);
    expect((await home.run(['rollback'])).code).toBe(0);
    expect(existsSync(join(home.path, OF_SHOP))).toBe(false);
  });

  it('that help tasks of two projects are proposed for all, and the report says where', async () => {
    await using server = await startFakeLLM(nightAnswer);
    using home = sleepHome();
    writeTasks(home, fromBoth(home));
    const report = await answerOf(home, nightFlags(server.baseURL));
    expect(report.proposals).toMatchObject([{ id: '1', path: join(home.path, USER_WIDE) }]);
    expect(report.documents[0]).toMatchObject({ path: join(home.path, USER_WIDE), isStaged: true });
    expect((await home.run(['adopt'])).code).toBe(0);
    expect(home.read(USER_WIDE)).toContain(RULE);
    expect(existsSync(join(home.path, OF_SHOP))).toBe(false);
  });

  it('for all projects are known to later nights, which do not learn them again', async () => {
    await using server = await startFakeLLM(nightAnswer);
    using home = sleepHome();
    const learned = writeBlock('---\nname: skillopt-sleep-learned\ndescription: d\n---\n', 'learned', RULE);
    home.write(USER_WIDE, learned);
    writeTasks(home, ofProject(home.shop, doneTasks()));
    const report = await answerOf(home, nightFlags(server.baseURL));
    expect(report).toMatchObject({ proposals: [], baselineScore: 1 });
  });

  it('from two projects that help one of them alone are proposed for the project, and not lost', async () => {
    await using server = await startFakeLLM(helpingShop);
    using home = sleepHome();
    writeTasks(home, [...ofProject(home.shop, doneTasks('shop')), ...ofProject(home.blog, doneTasks('blog', half))]);
    const report = await answerOf(home, nightFlags(server.baseURL, '--no-evolve-memory'));
    expect(report.proposals).toMatchObject([{ path: join(home.path, OF_SHOP) }]);
  });

  it.each([
    ['user', USER_WIDE],
    ['project', OF_SHOP],
  ])('are proposed where the person wants them: --skill-scope %s', async (scope, path) => {
    await using server = await startFakeLLM(nightAnswer);
    using home = sleepHome();
    writeTasks(home, scope === 'user' ? ofProject(home.shop, doneTasks()) : fromBoth(home));
    const report = await answerOf(home, nightFlags(server.baseURL, '--skill-scope', scope));
    expect(report.proposals).toMatchObject([{ path: join(home.path, path) }]);
  });
});

const fromBoth = (home: SleepHome) => [
  ...ofProject(home.shop, doneTasks('shop', half)),
  ...ofProject(home.blog, doneTasks('blog', half)),
];
