import type {
  AgentRunner,
  AgentRunRequest,
  ChatMessage,
  ChatModel,
  RolloutContext,
  SkillEnv,
  SkillPackage,
} from '../../core/contracts/index.ts';
import type { Trained } from '../../core/document/index.ts';
import type { QaItem } from '../../envs/index.ts';
import { skillHeader } from '../../skills/index.ts';
import { openTemplate, openWorkspace } from '../../workspaces/index.ts';
import { amongNeighbours, contentVersion, installedPackage, requireAgent } from '../installed-skill.ts';
import { toOutput, trajectoryOf } from './score-attempt.ts';
import { limitsOf, type WorkspaceEnvOptions } from './workspace-env.ts';

export type QaInWorkspaceOptions = Pick<WorkspaceEnvOptions, 'sandbox' | 'limits' | 'package' | 'neighbours'> & {
  /** Where questions come from, and how answers to them are scored. */
  readonly questions: SkillEnv<QaItem>;
};

/** Longer passages are a file in the workspace: an agent reads what it needs of them. */
const MOST_INLINE = 4_000;
const CONTEXT_FILE = 'context.md';

/**
 * Questions that are put to an agent in a workspace of its own, with the skill where it looks for skills. Its last words are
 * scored as a reply in a chat would be.
 */
export function qaInWorkspace(options: QaInWorkspaceOptions): SkillEnv<QaItem> {
  const { questions, sandbox } = options;
  let trained: Trained = {};
  return {
    name: questions.name,
    get version() {
      const limits = limitsOf(options.limits);
      return `${questions.version ?? ''} in workspaces 2 of ${sandbox.id}, ${contentVersion({ ...options, limits }, trained)}`;
    },
    ...(questions.judgeCalls === undefined ? {} : { judgeCalls: questions.judgeCalls }),
    ...(questions.warnings === undefined ? {} : { warnings: questions.warnings }),
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
async function attempt(context: RolloutContext<QaItem>, skill: SkillPackage, options: QaInWorkspaceOptions) {
  const agent = requireAgent(context.agent);
  const { item, file } = withContextFile(context.item);
  let attempted: Awaited<ReturnType<typeof askAgent>> | undefined;
  const target: ChatModel = {
    id: agent.id,
    async complete({ messages }) {
      const prompt = promptOf(messages, file !== undefined);
      const skills = amongNeighbours(skill, options.neighbours);
      attempted = await askAgent(agent, { prompt, skills, signal: context.signal }, file, options);
      const { text, usage } = attempted.run;
      return { text, usage, finishReason: 'stop' };
    },
  };
  const score = await options.questions.rolloutOne({ ...context, item, skill: '', target });
  const { prompt, run, diff } = attempted!;
  const trajectory = trajectoryOf(run, { agent, prompt, sessionId: item.id });
  return toOutput(score, { prompt }, { run, diff, skill, trajectory });
}

function withContextFile(item: QaItem): { readonly item: QaItem; readonly file?: string } {
  const { context, ...rest } = item;
  return context === undefined || context.length <= MOST_INLINE ? { item } : { item: rest, file: context };
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
  file: string | undefined,
  options: QaInWorkspaceOptions,
) {
  const { sandbox, limits } = options;
  const template = await openTemplate({ sandbox, files: file === undefined ? {} : { [CONTEXT_FILE]: file } });
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
