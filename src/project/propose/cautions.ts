import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { agentClis } from '../../agents/index.ts';
import { plural, shellWord } from '../../core/text/index.ts';
import { isTooFew, sizesText } from '../../envs/index.ts';
import { megabytes } from '../../imports/index.ts';
import type { Found, FoundFiles, FoundSkill } from '../discover/found.ts';
import type { Choice } from './propose.ts';

/** Fewer prove only the largest gains. */
const ENOUGH_TASKS = 30;

/** What a person should know who works with this choice. */
export function cautionsFor(choice: Choice, found: Found): string[] {
  return [
    ...skillCautions(choice.skill, found),
    ...agentCautions(choice.skill, found),
    ...taskCautions(choice),
    ...leftOutCautions(found),
  ];
}

function skillCautions(skill: FoundSkill | undefined, { skills }: Found): string[] {
  const others = skills.length - 1;
  return [
    ...(skill?.problem === undefined
      ? []
      : [
          `${skill.problem}. Agents read name and description there. All that is wrong: skillopt skill lint ${shellWord(skill.path)}`,
        ]),
    ...(skill && others > 0
      ? [`${others} more ${others === 1 ? 'skill is' : 'skills are'} here: --skill PATH takes another`]
      : []),
  ];
}

/** A chat reads scripts at best. Who has an agent is told how to train with it. */
function agentCautions(skill: FoundSkill | undefined, { directory, models }: Found): string[] {
  if (skill === undefined || !existsSync(join(directory, skill.path.replace(/SKILL\.md$/i, ''), 'scripts'))) return [];
  const agent = models.agents.find(({ isSignedIn }) => isSignedIn) ?? models.agents[0];
  if (agent === undefined) return [];
  return [
    `the skill has scripts, which a chat cannot run: target: { agent: ${agentClis[agent.cli].name} } and env: workspace train it at work, on tasks with files (docs/agents.md)`,
  ];
}

function taskCautions({ source, weighed }: Choice): string[] {
  if (weighed === undefined || source?.kind !== 'tasks') return [];
  const { problem, count, leftOut, largeBytes, sizes } = weighed;
  if (problem !== undefined) return [`the tasks cannot be used yet: ${problem}`];
  if (largeBytes !== undefined)
    return [
      `${source.path} is large (${megabytes(largeBytes)}): only its beginning was read, and train reads all of it. Some hundred tasks are mostly enough`,
    ];
  if (isTooFew(sizes)) return [`training makes no sense yet with ${sizesText(sizes)}`];
  return [
    ...(count < ENOUGH_TASKS
      ? [`${plural(count, 'task proves', 'tasks prove')} only a large gain; ${ENOUGH_TASKS} or more are better`]
      : []),
    ...(leftOut > 0
      ? [`${plural(leftOut, 'thing')} in ${source.path} ${leftOut === 1 ? 'is' : 'are'} left out; train names them`]
      : []),
  ];
}

/** What is there and was not used, and how far was looked. */
export const leftOutCautions = ({ brokenSkills, leftOut, notes }: FoundFiles): string[] => [
  ...[...brokenSkills, ...leftOut].map(({ path, why }) => `${path} is left out: ${why}`),
  ...notes,
];
