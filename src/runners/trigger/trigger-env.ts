import type {
  AgentLimits,
  AgentRun,
  AgentRunner,
  RolloutContext,
  RolloutOutput,
  Sandbox,
  SkillEnv,
  SkillPackage,
} from '../../core/contracts/index.ts';
import { openTemplate, openWorkspace, removeStale } from '../../workspaces/index.ts';
import { type SomeLimits, TRIGGER_LIMITS } from '../agent/default-limits.ts';
import { amongNeighbours, nameOf, requireAgent } from '../agent/skill-at-work.ts';
import { contentVersion } from '../workspace/content-version.ts';
import { installedPackage, type Trained } from '../workspace/installed-package.ts';
import { shownTools } from '../workspace/shown-work.ts';
import { requireVisibleLoading } from './canary.ts';
import { fewQueries } from './few-queries.ts';
import { kindOf, type TriggerQuery } from './trigger-query.ts';

export type TriggerEnvOptions = {
  readonly name?: string;
  readonly items: Readonly<Record<string, readonly TriggerQuery[]>>;
  readonly sandbox: Sandbox;
  /** The user's other skills: they compete for the same words. */
  readonly neighbours?: readonly SkillPackage[];
  /** What lies beside SKILL.md in the skill's folder. */
  readonly package?: SkillPackage;
  /** How often each query is put, in one attempt. */
  readonly runs?: number;
  readonly limits?: SomeLimits;
  readonly initialSkill?: string;
};

/** Does the agent load the skill when it should, and leave it alone when it should not? The whole turn is looked at. */
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
    const all = await Promise.all(
      Array.from({ length: runs }, (_, sampleIndex) =>
        ask(agent, { item, target, skills, sandbox, limits, signal, sampleIndex }),
      ),
    );
    return toOutput(item, target, all);
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

type Asking = {
  readonly item: TriggerQuery;
  readonly target: string;
  readonly skills: readonly SkillPackage[];
  readonly sandbox: Sandbox;
  readonly limits: AgentLimits;
  readonly signal: AbortSignal;
  readonly sampleIndex: number;
};

/** An outage is thrown by the agent, so that nothing that should not load passes because nothing worked. */
async function ask(agent: AgentRunner, { item, target, sandbox, ...request }: Asking): Promise<AgentRun> {
  await using workspace = await openWorkspace({ template: await openTemplate({ sandbox }), sandbox });
  return await agent.run({
    ...request,
    workspace: workspace.view,
    prompt: item.query,
    until: (step) => step.type === 'skill-loaded' && step.name === target,
  });
}

function toOutput(item: TriggerQuery, target: string, runs: readonly AgentRun[]): RolloutOutput {
  const rate = runs.filter(({ skillsLoaded }) => skillsLoaded.includes(target)).length / runs.length;
  const soft = item.shouldTrigger ? rate : 1 - rate;
  const isPassed = item.shouldTrigger ? rate >= 0.5 : rate < 0.5;
  const others = [...new Set(runs.flatMap(({ skillsLoaded }) => skillsLoaded.filter((one) => one !== target)))];
  const instead = others.length === 0 ? '' : `; it loaded ${others.join(', ')} instead`;
  const cut = runs.find(({ ended }) => ended !== 'done');
  const before = cut ? `it was ended: ${cut.ended}; ` : '';
  const why = item.shouldTrigger ? `the skill was not loaded${instead}` : 'the skill was loaded, and is not for this';
  return {
    hard: isPassed ? 1 : 0,
    soft,
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
