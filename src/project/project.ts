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
import { Scoring } from '../core/judge/index.ts';
import { describeValue, suggestion, valueAt } from '../core/text/index.ts';
import { Columns, isRatio } from '../envs/index.ts';
import { type FindOrigin, nameOf } from './origin.ts';

const modelSpec = z.union(
  [z.string().min(1), z.record(z.string(), z.unknown())],
  'expected a model such as openai:MODEL, or provider and model as keys',
);
const NAME = /^[A-Za-z0-9][\w.-]*$/;

/** Where agents, their verifiers, and commands that judge run: by name, or in a container of this image. */
export const SandboxSpec = z.union(
  [
    z.enum(['auto', 'bubblewrap', 'none']),
    z.strictObject({ container: z.string().min(1), engine: z.enum(['docker', 'podman']).optional() }),
  ],
  'expected auto, bubblewrap, none, or { container: IMAGE }',
);
export type SandboxSpec = z.output<typeof SandboxSpec>;

/** Settings of workspaces. */
const WorkspaceKeys = z.strictObject({
  /** Folders of further skills that the agent has: the user's own compete with the one that is trained. */
  neighbours: z
    .union([
      z
        .string()
        .min(1)
        .transform((one) => [one]),
      z.array(z.string().min(1)),
    ])
    .optional(),
  limits: AgentLimitsSpec.optional(),
  /** For env: trigger: how often one attempt asks a query. */
  runs: z.number().int().positive().max(20).optional(),
});

/** What a project file may say besides the settings of a run. */
export const projectKeys = {
  name: z
    .string()
    .regex(NAME, 'expected letters, digits, - _ and .')
    .optional()
    .describe('Name of the run. Default: the name of the environment.'),
  env: z
    .string()
    .min(1)
    .default('qa')
    .describe('Environment: qa, workspace, trigger, or the path of a module (.ts, .mjs, .js).'),
  tasks: z
    .string()
    .min(1)
    .optional()
    .describe(
      'File of tasks: rows as .jsonl, .json, .csv, .tsv, .yaml or .parquet, evals.json, or a promptfoo config.',
    ),
  columns: Columns.default({}).describe('Names of columns that are not the usual ones: question, answers, taskType …'),
  scoring: Scoring.optional().describe(
    'How tasks without a judge are scored: docs/task-judges.md. Default: the reply must be one of the answers.',
  ),
  skill: z
    .string()
    .min(1)
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
  splitMode: z
    .enum(['ratio', 'split_dir'])
    .optional()
    .describe('How data outside a task file is divided: by splitRatio, or by the folders of splitDir.'),
  splitDir: z.string().min(1).optional().describe('Folder with train/, val/ and test/.'),
  dataPath: z.string().min(1).optional().describe('Data that is divided by splitRatio.'),
  target: modelSpec
    .optional()
    .describe(
      'Frozen model that the skill is for, or an agent: { agent: claude }. none: the environment asks no model.',
    ),
  optimizer: modelSpec.optional().describe('Model that reads the trajectories and proposes edits.'),
  judge: modelSpec.optional().describe('Model that scores, for environments that ask one.'),
  workspace: WorkspaceKeys.optional().describe(
    'For env: workspace: other skills that the agent has, and limits per task.',
  ),
  sandbox: SandboxSpec.default('auto').describe(
    'Where agents and commands that judge answers run. none: with your rights and network.',
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
/** What a project file in TypeScript may say. */
export type ProjectConfig = z.input<typeof Project>;

/** The settings as they are: it lets an editor know them. */
export const defineConfig = (config: ProjectConfig): ProjectConfig => config;

/** Values before defaults: from a file or from flags, any key may be missing or wrong. */
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

/** Fills in the defaults, or throws `CONFIG_INVALID` with a line per problem: where it was set, and what is wrong with it. */
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

/** Whether a skill is loaded is decided by its description. */
const withParts = (input: ProjectInput): ProjectInput =>
  input.env === 'trigger' && input.parts === undefined ? { ...input, parts: ['description'] } : input;

/** What was probably meant by a word, or by the name of a prompt. */
function guess(issue: z.core.$ZodIssue, input: unknown): string {
  if (issue.code === 'invalid_value') return suggestion(String(valueAt(issue, input)), issue.values.map(String));
  const [name] = issue.code === 'unrecognized_keys' ? issue.keys : [];
  return name === undefined || issue.path[0] !== 'promptOverrides' ? '' : suggestion(name, PROMPT_NAMES);
}
