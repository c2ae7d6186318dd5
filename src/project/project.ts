import { z } from 'zod';
import {
  AgentLimitsSpec,
  CONFIG_HINT,
  checkTogether,
  configShape,
  isWithoutEffect,
  keysAt,
  PROMPT_NAMES,
  removedKeysIn,
  SkillError,
  withPreset,
} from '../core/contracts/index.ts';
import { ON_VERIFIER_CRASH, Scoring } from '../core/judge/index.ts';
import { describeValue, suggestion, valueAt } from '../core/text/index.ts';
import { Columns, isRatio } from '../envs/index.ts';
import { type FindOrigin, nameOf } from './origin.ts';

const modelSpec = z.union(
  [z.string().min(1), z.record(z.string(), z.unknown())],
  'expected a model such as openai:MODEL, or provider and model as keys',
);
const NAME = /^[A-Za-z0-9][\w.-]*$/;

export const SandboxSpec = z.union(
  [
    z.enum(['auto', 'bubblewrap', 'none']),
    z.strictObject({ container: z.string().min(1), engine: z.enum(['docker', 'podman']).optional() }),
  ],
  'expected auto, bubblewrap, none, or { container: IMAGE }',
);
export type SandboxSpec = z.output<typeof SandboxSpec>;

const filled = z.string().min(1);

const WorkspaceKeys = z.strictObject({
  /** Folders of other skills that the agent has. They compete with the one that is trained. */
  neighbours: z.union([filled.transform((one) => [one]), z.array(filled)]).optional(),
  limits: AgentLimitsSpec.optional(),
  /** How often one attempt asks a query, for env: trigger. */
  runs: z.number().int().positive().max(20).optional(),
});

export const projectKeys = {
  name: z
    .string()
    .regex(NAME, 'expected letters, digits, - _ and .')
    .optional()
    .describe('Name of the run. Default: the name of the environment.'),
  env: filled
    .default('qa')
    .describe(
      'Environment: qa, workspace, trigger, a benchmark (skillopt bench list), or the path of a module (.ts, .mjs, .js).',
    ),
  tasks: filled
    .optional()
    .describe(
      'File of tasks: rows as .jsonl, .json, .csv, .tsv, .yaml or .parquet, evals.json, or a promptfoo config.',
    ),
  columns: Columns.default({}).describe('Names of columns that are not the usual ones: question, answers, taskType …'),
  scoring: Scoring.optional().describe(
    'How tasks without a judge are scored: docs/task-judges.md. Default: the reply must be one of the answers.',
  ),
  skill: filled
    .optional()
    .describe('Document to start from, or a folder with a SKILL.md. Default: the skill of the environment.'),
  skillFiles: z
    .enum(['inline', 'none'])
    .default('inline')
    .describe(
      'Text files that the skill refers to. inline: they follow the skill in the prompt, up to 48 kB. none: left out.',
    ),
  splitRatio: z
    .string()
    .refine(isRatio, 'expected three positive numbers such as 4:3:3')
    .default('4:3:3')
    .describe('Shares of train:val:test for tasks without a split.'),
  splitSeed: z.number().int().default(42).describe('Seed of that split.'),
  splitBy: filled
    .optional()
    .describe(
      'Column of the task file that names the document, author or source of a task. Tasks with the same value never get into different splits. For env: qa.',
    ),
  splitMode: z
    .enum(['ratio', 'split_dir'])
    .optional()
    .describe('How data outside a task file is divided: by splitRatio, or by the folders of splitDir.'),
  splitDir: filled.optional().describe('Folder with train/, val/ and test/.'),
  dataPath: filled.optional().describe('Data that is divided by splitRatio.'),
  target: modelSpec
    .optional()
    .describe(
      'Frozen model that the skill is for, or an agent, as agent:claude or { agent: claude, … }. A block { provider, model, baseURL, apiKeyEnv } names the variable of its key. none: the environment asks no model.',
    ),
  optimizer: modelSpec.optional().describe('Model that reads the trajectories and proposes edits.'),
  judge: modelSpec.optional().describe('Model that scores, for environments that ask one.'),
  workspace: WorkspaceKeys.optional().describe(
    'For env: workspace: other skills that the agent has, and limits per task.',
  ),
  sandbox: SandboxSpec.default('auto').describe(
    'Where agents and commands that judge answers run. none: with your rights and network.',
  ),
  onVerifierCrash: z
    .enum(ON_VERIFIER_CRASH)
    .default('fail')
    .describe(
      'What to do when a verifier or a judge command crashes, hangs or gives no verdict on work, but gives one without it. fail: the work scores 0. stop: no score, and the run stops.',
    ),
  verifierHosts: z
    .array(z.string().regex(/^(?:\*\.)?[\w-]+(?:\.[\w-]+)*(?::\d{1,5})?$/))
    .default([])
    .describe(
      'Hosts that verifiers and judge commands may reach from the sandbox, such as pypi.org or *.example.com, on ports 80 and 443; host:port names another. By default none.',
    ),
  promptOverrides: z
    .partialRecord(z.enum(PROMPT_NAMES), z.string())
    .default({})
    .describe('Optimizer prompts by name: text, or the path of a .md file.'),
  sleep: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Settings of sleep: docs/sleep-settings.md. Training does not read them.'),
};

const projectShape = { ...configShape, ...projectKeys };

export const Project = z.strictObject(projectShape).superRefine(checkTogether);
export type Project = z.output<typeof Project>;
/** The settings of a project file in TypeScript. */
export type ProjectConfig = z.input<typeof Project>;

/** Returns the settings as they are. It lets an editor check and complete them. */
export const defineConfig = (config: ProjectConfig): ProjectConfig => config;

/** Unchecked settings of a file or of flags. */
export type ProjectInput = Readonly<Record<string, unknown>>;

/** Throws `CONFIG_INVALID` for keys that no project has. */
export async function refuseUnknownKeys(input: ProjectInput, findOrigin: FindOrigin): Promise<void> {
  const known = Object.keys(projectShape);
  const removed = new Map(removedKeysIn(input).map(({ key, why }) => [key, why]));
  const unknown = Object.keys(input).filter((key) => !known.includes(key) && !isWithoutEffect(key, input[key]));
  if (unknown.length === 0) return;
  const lines = unknown.map(async (key) => {
    const { place = 'The command line' } = await findOrigin([key]);
    const why = removed.get(key);
    return why ? `${place}: ${key} ${why}` : `${place}: unknown key ${key}${suggestion(key, known)}`;
  });
  throw new SkillError('CONFIG_INVALID', (await Promise.all(lines)).join('\n'), { hint: CONFIG_HINT });
}

/** Fills in the defaults, or throws `CONFIG_INVALID` with a line per problem. */
export async function parseProject(input: ProjectInput, findOrigin: FindOrigin): Promise<Project> {
  const whole = withParts(withPreset(input));
  const result = Project.safeParse(whole);
  if (result.success) return result.data;
  const lines = result.error.issues.map(
    async (issue) =>
      `${nameOf(await findOrigin(issue.path))}: ${describeValue(issue, whole, keysAt(Project, issue.path))}${guess(issue, whole)}`,
  );
  throw new SkillError('CONFIG_INVALID', (await Promise.all(lines)).join('\n'), { hint: CONFIG_HINT });
}

/** An agent decides by its description whether to load a skill. */
const withParts = (input: ProjectInput): ProjectInput =>
  input.env === 'trigger' && input.parts === undefined ? { ...input, parts: ['description'] } : input;

function guess(issue: z.core.$ZodIssue, input: unknown): string {
  if (issue.code === 'invalid_value') return suggestion(String(valueAt(issue, input)), issue.values.map(String));
  const [name] = issue.code === 'unrecognized_keys' ? issue.keys : [];
  return name === undefined || issue.path[0] !== 'promptOverrides' ? '' : suggestion(name, PROMPT_NAMES);
}

const GROUPS = {
  project:
    'name env tasks columns scoring skill skillFiles target optimizer judge sandbox workspace onVerifierCrash verifierHosts promptOverrides extras sleep',
  data: 'splitRatio splitSeed splitBy splitMode splitDir dataPath trainSize selEnvNum testEnvNum selectionSplit testSplit',
  search: `preset numEpochs batchSize minibatchSize mergeBatchSize accumulation proposalsPerBatch failureOnly editBudget
    minEditBudget lrScheduler lrControlMode skillUpdateMode parts dropRepeats retryRejectedEdits tryRemovals tryShorter salvage
    salvageRollouts prune maxLosses optimizerRatio`,
  memory: `useStepBuffer stepBufferScope useSlowUpdate slowUpdateSamples slowUpdateGate longitudinalPairPolicy useMetaSkill
    useSkillAwareReflection skillAwareAppendixSource skillAwareConsolidateThreshold`,
  'gate and report': `useGate gate racing gateMetric gateMixedWeight confidence regressionVeto protectedItems leakCritic
    maxMemorisedShare fitValidation leastLead doubtAfter finalPasses evalTest`,
  limits: 'maxRollouts maxCalls maxTotalTokens maxCostUsd maxMinutes prices maxErroredShare maxConsecutiveFailures',
  sizes:
    'maxSkillTokens maxTrajectoryTokens optimizerContextTokens optimizerMaxCompletionTokens rewriteMaxCompletionTokens',
  running: 'outRoot seed workers maxRetries callTimeoutMs rolloutTimeoutMs saveEveryStep maxCacheMb verbose',
};

/** Every key of a project once, by subject. In the file they are all at the top level. */
export const SETTING_GROUPS = Object.entries(GROUPS).map(([title, keys]) => ({ title, keys: keys.split(/\s+/) }));

/** Settings that most people change. --help shows these, --help-all shows all. */
export const MAIN_SETTINGS: ReadonlySet<string> = new Set(
  'tasks skill target optimizer numEpochs batchSize maxCalls maxCostUsd workers outRoot'.split(' '),
);
