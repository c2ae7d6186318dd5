import type {
  AgentRunner,
  AgentRunRequest,
  ChatMessage,
  ChatModel,
  Item,
  RolloutContext,
  SkillEnv,
  SkillPackage,
} from '../../core/contracts/index.ts';
import type { Trained } from '../../core/document/index.ts';
import { defined } from '../../core/text/index.ts';
import type { QaItem } from '../../envs/index.ts';
import { skillHeader } from '../../skills/index.ts';
import { openTemplate, openWorkspace } from '../../workspaces/index.ts';
import { amongNeighbours, contentVersion, installedPackage, requireAgent } from '../installed-skill.ts';
import { toOutput, trajectoryOf } from './score-attempt.ts';
import { limitsOf, type WorkspaceEnvOptions } from './workspace-env.ts';

export type QaInWorkspaceOptions<I extends Item = QaItem> = Pick<
  WorkspaceEnvOptions,
  'sandbox' | 'limits' | 'package' | 'neighbours'
> & {
  /**
   * Where questions come from, and how answers to them are scored. Its `rolloutOne` asks the target once. The context has an
   * `agent` then: the environment can tell it where files lie, and leave out tools of its own.
   */
  readonly questions: SkillEnv<I>;
  /** Files that the question is about, by their paths in the workspace. */
  readonly workspaceFiles?: ((item: I) => Promise<Files>) | undefined;
};

type Files = Readonly<Record<string, string>>;

/** Longer passages are a file in the workspace: an agent reads what it needs of them. */
const MOST_INLINE = 4_000;
const CONTEXT_FILE = 'context.md';

/**
 * Questions that are put to an agent in a workspace of its own, with the skill where it looks for skills. Its last words are
 * scored as a reply in a chat would be.
 */
export function qaInWorkspace<I extends Item = QaItem>(options: QaInWorkspaceOptions<I>): SkillEnv<I> {
  const { questions, sandbox } = options;
  let trained: Trained = {};
  return {
    name: questions.name,
    get version() {
      const limits = limitsOf(options.limits);
      return `${questions.version ?? ''} in workspaces 2 of ${sandbox.id}, ${contentVersion({ ...options, limits }, trained)}`;
    },
    ...defined({ judgeCalls: questions.judgeCalls, warnings: questions.warnings, card: questions.card }),
    ...defined({
      tryScoring: questions.tryScoring && (() => questions.tryScoring!()),
      close: questions.close && (() => questions.close!()),
    }),
    drafts: questions.drafts,
    getItems: (split) => questions.getItems(split),
    getInitialSkill: () => questions.getInitialSkill?.() ?? '',
    getTaskTypes: () => questions.getTaskTypes?.() ?? [],
    async setup(config) {
      trained = config;
      await sandbox.ready();
      await questions.setup?.(config);
    },
    rolloutOne: (context) =>
      attempt(context, installable(installedPackage(options.package, context.skill, trained)), options),
  };
}

/** The environment of the questions asks a model that is the agent at work; what it did is kept beside the score. */
async function attempt<I extends Item>(
  context: RolloutContext<I>,
  skill: SkillPackage,
  options: QaInWorkspaceOptions<I>,
) {
  const agent = requireAgent(context.agent);
  const { item, file } = withContextFile(context.item);
  const files = {
    ...(await options.workspaceFiles?.(context.item)),
    ...(file === undefined ? {} : { [CONTEXT_FILE]: file }),
  };
  let attempted: Awaited<ReturnType<typeof askAgent>> | undefined;
  const target: ChatModel = {
    id: agent.id,
    async complete({ messages }) {
      const prompt = promptOf(messages, file !== undefined);
      const skills = amongNeighbours(skill, options.neighbours);
      attempted = await askAgent(agent, { prompt, skills, signal: context.signal }, files, options);
      const { text, usage } = attempted.run;
      return { text, usage, finishReason: 'stop' };
    },
  };
  const score = await options.questions.rolloutOne({ ...context, item, skill: '', target });
  const { prompt, run, diff } = attempted!;
  const trajectory = trajectoryOf(run, { agent, prompt, sessionId: item.id });
  return toOutput(score, { prompt }, { run, diff, skill, trajectory });
}

function withContextFile<I extends Item>(item: I): { readonly item: I; readonly file?: string } {
  const { context, ...rest } = item as I & { readonly context?: unknown };
  if (typeof context !== 'string' || context.length <= MOST_INLINE) return { item };
  return { item: rest as unknown as I, file: context };
}

/** The question before the rules for the answer, as a person would write to an agent. */
function promptOf(messages: readonly ChatMessage[], hasFile: boolean): string {
  const texts = (isSystem: boolean) =>
    messages.filter(({ role }) => (role === 'system') === isSystem).map(({ content }) => content);
  const where = hasFile ? [`The context is in the file ${CONTEXT_FILE}.`] : [];
  return [...where, ...texts(false), ...texts(true)].join('\n\n');
}

type Question = Pick<AgentRunRequest, 'prompt' | 'skills' | 'signal'>;

async function askAgent(
  agent: AgentRunner,
  question: Question,
  files: Files,
  { sandbox, limits }: Pick<WorkspaceEnvOptions, 'sandbox' | 'limits'>,
) {
  const template = await openTemplate({ sandbox, files });
  await using workspace = await openWorkspace({ template, sandbox });
  const run = await agent.run({ ...question, workspace: workspace.view, limits: limitsOf(limits), sampleIndex: 0 });
  return { prompt: question.prompt, run, diff: await workspace.diff() };
}

const HEADER = `---
name: skillopt-target
description: How to answer the questions that are asked here. Load it before you answer any question.
---

`;

/** Texts that were written for a chat have no name, and no agent loads a skill without one. */
function installable(skill: SkillPackage): SkillPackage {
  const text = skill.files['SKILL.md'] ?? '';
  if (skillHeader(text).name !== undefined) return skill;
  return { ...skill, files: { ...skill.files, 'SKILL.md': `${HEADER}${text}` } };
}
