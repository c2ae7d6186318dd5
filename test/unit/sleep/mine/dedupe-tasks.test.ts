import { describe, expect, it } from 'vitest';
import { groupByHint, readSkillHint } from '../../../../src/sleep/index.ts';
import { onlySkill } from '../../../../src/sleep/mine/heuristic-miner.ts';
import { filterForTarget } from '../../../../src/sleep/mine/mine-tasks.ts';
import { dedupeTasks } from '../../../../src/sleep/splits.ts';
import { sleepTask } from '../../../support/sleep/sleep-tasks.ts';

describe('tasks of one id', () => {
  it('fact 40: are one, with all sessions and the best outcome', () => {
    const [merged, ...rest] = dedupeTasks([
      sleepTask('t', { sourceSessions: ['1'], outcome: 'fail' }),
      sleepTask('t', { sourceSessions: ['3', '1'], outcome: 'success' }),
    ]);
    expect(rest).toEqual([]);
    expect(merged).toMatchObject({ sourceSessions: ['1', '3'], outcome: 'success' });
  });

  it('fact 40: keep a hint only when there is one', () => {
    const hintOf = (...hints: string[]) =>
      dedupeTasks(hints.map((skillHint) => sleepTask('t', { skillHint })))[0]!.skillHint;
    expect(hintOf('x', 'y')).toBe('');
    expect(hintOf('x', '', ' x ')).toBe('x');
  });

  it('fact 41: belong to a skill only when every sighting says so', () => {
    const inputs = [
      sleepTask('a', { skillHint: 'x' }),
      sleepTask('a', { skillHint: '' }),
      sleepTask('b', { skillHint: ' y ' }),
    ];
    const before = structuredClone(inputs);
    const groups = groupByHint(inputs).map(({ skillHint, tasks }) => [skillHint, tasks.map(({ id }) => id)]);
    expect(groups).toEqual([
      ['', ['a', 'a']],
      ['y', ['b']],
    ]);
    expect(inputs).toEqual(before);
  });
});

describe('skill hints', () => {
  it('21: keep plugin and skill apart', () => {
    expect(readSkillHint('deploy')).toEqual({ skill: 'deploy' });
    expect(readSkillHint('acme-tools:deploy')).toEqual({ plugin: 'acme-tools', skill: 'deploy' });
    expect(onlySkill(['acme-tools:deploy', 'acme-tools:deploy'])).toBe('acme-tools:deploy');
    expect(onlySkill(['deploy', 'acme-tools:deploy'])).toBe('');
  });

  it.each([
    '../../etc',
    '/etc/passwd',
    'a/b',
    'a\\b',
    'plugin:../x',
    'a:b:c',
    ':x',
    'x:',
    '..',
    '.hidden',
    'a\nb',
    'é.',
  ])('21: never name a file: %j is no hint', (name) => {
    expect(readSkillHint(name)).toBeUndefined();
    expect(onlySkill([name])).toBe('');
  });
});

describe('the target filter', () => {
  const path = '/home/u/skills/deployment/SKILL.md';
  const text = '# Deploy\nRoll out the gateway.\n## API gateway\nRun the rollout in stages; watch the rollout.\n';
  const asked = (...intents: string[]) => intents.map((intent, at) => sleepTask(`t${at}`, { intent }));

  it('fact 42: keeps what shares a word with name or headings, or two with the text', () => {
    const kept = filterForTarget(asked('bake a cake', 'gateway rollout', 'deploy the api gateway'), { path, text });
    expect(kept.map(({ intent }) => intent)).toEqual(['deploy the api gateway', 'gateway rollout']);
  });

  it('fact 42: two words of the text are enough, one is not', () => {
    const kept = filterForTarget(asked('watch it', 'watch the stages', 'deploy'), { path, text });
    expect(kept.map(({ intent }) => intent)).toEqual(['deploy', 'watch the stages']);
  });

  it('keeps everything when nothing fits, or the skill says nothing', () => {
    expect(filterForTarget(asked('bake a cake'), { path, text })).toHaveLength(1);
    expect(filterForTarget(asked('bake a cake', 'deploy'), { path, text: '  ' })).toHaveLength(2);
  });

  it('is named by its folder, not by the folders above', () => {
    const kept = filterForTarget(asked('write home', 'deployment of it'), { path, text: 'nothing else' });
    expect(kept.map(({ intent }) => intent)).toEqual(['deployment of it']);
  });
});
