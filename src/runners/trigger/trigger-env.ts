import {
  type AgentLimits,
  type AgentRun,
  type AgentRunner,
  type AgentRunRequest,
  type RolloutContext,
  type RolloutOutput,
  type Sandbox,
  type SkillEnv,
  SkillError,
  type SkillPackage,
} from '../../core/contracts/index.ts';
import type { Trained } from '../../core/document/index.ts';
import { openTemplate, openWorkspace, removeStale } from '../../workspaces/index.ts';
import { amongNeighbours, contentVersion, installedPackage, nameOf, requireAgent } from '../installed-skill.ts';
import { TRIGGER_LIMITS } from '../limits.ts';
import { shownTools } from '../workspace/score-attempt.ts';
import type { WorkspaceEnvOptions } from '../workspace/workspace-env.ts';
import { kindOf } from './query-kind.ts';
import { fewQueries, type TriggerQuery } from './trigger-queries.ts';

export type TriggerEnvOptions = Pick<WorkspaceEnvOptions, 'sandbox' | 'limits' | 'initialSkill'> & {
  readonly name?: string;
  readonly items: Readonly<Record<string, readonly TriggerQuery[]>>;
  /** The user's other skills: they compete for the same words. */
  readonly neighbours?: readonly SkillPackage[];
  /** What lies beside SKILL.md in the skill's folder. */
  readonly package?: SkillPackage;
  /** How often each query is put, in one attempt. */
  readonly runs?: number;
};

/** Does the agent load the skill when it should, and leave it alone when it should not? */
export function triggerEnv(options: TriggerEnvOptions): SkillEnv<TriggerQuery> {
  const { name = 'trigger', items, sandbox, runs = 1, initialSkill } = options;
  const limits = { ...TRIGGER_LIMITS, ...options.limits } as AgentLimits;
  let canary: Promise<void> | undefined;
  let trained: Trained = {};
  const measure = async ({ item, skill: text, signal, ...context }: RolloutContext<TriggerQuery>) => {
    const agent = requireAgent(context.agent);
    const skill = installedPackage(options.package, text, trained);
    const target = nameOf(skill);
    canary ??= requireVisibleLoading({ agent, sandbox, name: target, limits, signal });
    await canary;
    const skills = amongNeighbours(skill, options.neighbours);
    const request = { agent, sandbox, prompt: item.query, skills, limits, signal, target };
    const all = Array.from({ length: runs }, (_, sampleIndex) => askUntilLoaded({ ...request, sampleIndex }));
    return toOutput(item, target, await Promise.all(all));
  };
  return {
    name,
    isVersionWhole: true,
    get version() {
      return `trigger 2 in ${sandbox.id}, ${runs} runs, ${contentVersion({ ...options, limits }, trained)}`;
    },
    judgeCalls: 0,
    warnings: fewQueries(items),
    getItems: (split) => items[split] ?? [],
    getTaskTypes: () => [true, false].map((shouldTrigger) => kindOf({ shouldTrigger })),
    ...(initialSkill === undefined ? {} : { getInitialSkill: () => initialSkill }),
    async setup(config) {
      trained = config;
      await removeStale();
      await sandbox.ready();
    },
    rolloutOne: measure,
  };
}

type Query = Omit<AgentRunRequest, 'workspace'> & {
  readonly agent: AgentRunner;
  readonly sandbox: Sandbox;
  /** The skill whose loading ends the run. */
  readonly target: string;
};

/** If the agent's provider fails, this throws: otherwise a skill that should not load would pass because nothing worked. */
async function askUntilLoaded({ agent, sandbox, target, ...request }: Query): Promise<AgentRun> {
  await using workspace = await openWorkspace({ template: await openTemplate({ sandbox }), sandbox });
  return await agent.run({
    ...request,
    workspace: workspace.view,
    until: (step) => step.type === 'skill-loaded' && step.name === target,
  });
}

function toOutput(item: TriggerQuery, target: string, runs: readonly AgentRun[]): RolloutOutput {
  const rate = runs.filter(({ skillsLoaded }) => skillsLoaded.includes(target)).length / runs.length;
  const isPassed = item.shouldTrigger ? rate >= 0.5 : rate < 0.5;
  const others = [...new Set(runs.flatMap(({ skillsLoaded }) => skillsLoaded.filter((one) => one !== target)))];
  const instead = others.length === 0 ? '' : `; it loaded ${others.join(', ')} instead`;
  const cut = runs.find(({ ended }) => ended !== 'done');
  const before = cut ? `it was ended: ${cut.ended}; ` : '';
  const why = item.shouldTrigger ? `the skill was not loaded${instead}` : 'the skill was loaded, and is not for this';
  return {
    hard: isPassed ? 1 : 0,
    soft: item.shouldTrigger ? rate : 1 - rate,
    taskType: kindOf(item),
    question: item.query,
    referenceText: item.shouldTrigger ? 'The skill should be loaded.' : 'The skill should not be loaded.',
    ...(isPassed ? {} : { failReason: `${before}${why}` }),
    predictedAnswer: shownTools(runs[0]!.steps) || runs[0]!.text,
    extras: {
      ...(cut ? { ended: cut.ended } : {}),
      rate,
      offered: runs[0]!.skillsOffered.find(({ name }) => name === target),
      others,
    },
  };
}

type Canary = Pick<Query, 'agent' | 'sandbox' | 'limits' | 'signal'> & {
  /** Of the trained skill, so that only the words differ from what follows. */
  readonly name: string;
};

const CANARY_PROMPT = 'Please do the canary check now, with the skill for canary checks.';
const OTHER_PROMPT = 'Say hello.';

/**
 * Whether the loading of a skill can be seen at all: one that is asked for by name must be seen to load, and must be left
 * alone when nobody asks. Otherwise every figure would be about the harness, and not about a description.
 */
export async function requireVisibleLoading(canary: Canary): Promise<void> {
  const [isSeen, isAlways] = [await isLoaded(CANARY_PROMPT, canary), await isLoaded(OTHER_PROMPT, canary)];
  if (isSeen && !isAlways) return;
  const what = isSeen
    ? 'a skill is seen to load that nobody asked for'
    : 'a skill that was asked for by name was not seen to load';
  throw new SkillError('ENV_FAILED', `whether a skill triggers cannot be measured with ${canary.agent.id}: ${what}`, {
    hint: 'Try by hand: skillopt try. A model that is too weak to follow a skill, or a skill folder where the agent does not look, has the same effect.',
  });
}

async function isLoaded(prompt: string, { name, ...canary }: Canary): Promise<boolean> {
  const text = `---
name: ${name}
description: Does the canary check. Use it whenever the user asks for the canary check.
---

Answer with the word canary.
`;
  const skills = [{ files: { 'SKILL.md': text } }];
  const run = await askUntilLoaded({ ...canary, prompt, skills, sampleIndex: 0, target: name });
  return run.skillsLoaded.includes(name);
}
