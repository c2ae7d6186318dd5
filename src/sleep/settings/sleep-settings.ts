import { z } from 'zod';
import { configShape, GATE_METRICS, type SkillOptConfigInput } from '../../core/contracts/index.ts';
import { isPortableName } from '../../core/text/index.ts';
import { type Place, transcriptSources } from '../../transcripts/index.ts';

const count = z.number().int().nonnegative();
const positive = z.number().int().positive();
const fraction = z.number().min(0).max(1);
const path = z.string().min(1);
const modelSpec = z.union(
  [z.string().min(1), z.record(z.string(), z.unknown())],
  'expected a model such as openai:MODEL, or provider and model as keys, or an agent: { agent: claude }',
);

/** The variables in which agents find their home, by transcript source. */
export const HOME_VARIABLES: Readonly<Record<string, string>> = Object.fromEntries(
  transcriptSources.flatMap(({ name, homeVariable }) => (homeVariable === undefined ? [] : [[name, homeVariable]])),
);

/** Every setting of sleep, each with its default: `sleep:` in the project file and `config.yaml` in the state folder. */
export const sleepShape = {
  source: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)], 'expected the name of a source, or a list of them')
    .default('auto')
    .describe('Which agents: auto is all that are found.'),
  projects: z
    .union([z.enum(['invoked', 'all']), z.array(path).min(1)], 'expected invoked, all or a list of folders')
    .default('invoked')
    .describe('Sessions of which projects: of this one, of all, or of these folders.'),
  lookbackHours: z.number().nonnegative().default(72).describe('How far back the first night looks; 0 is all.'),
  maxTasksPerNight: positive.default(40).describe('Maximum number of tasks per night.'),
  maxSessionsPerNight: positive
    .optional()
    .describe('Maximum number of sessions per night. Default: three times the tasks.'),
  maxTokensPerNight: positive
    .default(400_000)
    .describe(
      'Maximum number of tokens per night, input and output: a hard limit. With an agent as the target the default is 10,000,000.',
    ),
  holdoutFraction: fraction.default(0.34).describe('Alias of valFraction, which takes precedence.'),
  valFraction: fraction.default(0.34).describe('Share of the tasks that the gate measures on.'),
  testFraction: fraction.default(0).describe('Share of the tasks that only the report measures on.'),
  editBudget: positive.default(4).describe('Maximum number of edits per night.'),
  preferences: z.string().default('').describe('What you want of the skill, in your words.'),
  gateMetric: z.enum(GATE_METRICS).default('mixed').describe('Which score the gate compares.'),
  gateMixedWeight: fraction.default(0.5).describe('Weight of the soft score in mixed.'),
  gateMode: z
    .enum(['on', 'off'])
    .default('on')
    .describe('Propose only what is proven better, or whatever was learned: off measures nothing.'),
  gateNoRegression: z.boolean().default(false).describe('Refuse a proposal that makes any task worse.'),
  dreamRollouts: positive.default(1).describe('Attempts at each training task.'),
  dreamFactor: count.default(0).describe('Invented variants of each training task.'),
  recallK: count.default(10).describe('Maximum number of tasks from earlier nights that join a night.'),
  slowUpdate: z
    .boolean()
    .default(true)
    .describe('Compare tasks that come back over nights, and note for later nights what got worse or still fails.'),
  evolveSkill: z.boolean().default(true).describe('Propose edits to the skill.'),
  evolveMemory: z.boolean().default(true).describe('Propose edits to the memory file.'),
  llmMine: z.boolean().default(true).describe('Let the optimizer find the tasks; otherwise rules do.'),
  targetSkillPath: path.optional().describe('Skill to improve: its folder or SKILL.md. Default: one of our own.'),
  skillRoots: z.array(path).default([]).describe('Folders in which skills may be found and improved.'),
  multiSkillFanout: z
    .boolean()
    .default(true)
    .describe('Improve every existing skill that tasks were done with, each by its own tasks; not with a target.'),
  targetTaskFilter: z.boolean().default(true).describe('Only tasks that the target skill is about.'),
  managedSkillName: z
    .string()
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'expected small letters, digits and single dashes')
    .refine(isPortableName, 'expected a name that a folder can have on Windows too')
    .max(64)
    .default('skillopt-sleep-learned')
    .describe('Name of the skill of our own; in a project, -project is added to it.'),
  skillScope: z
    .enum(['auto', 'project', 'user'])
    .default('auto')
    .describe(
      'Where the skill of our own lies: in the project, or in your home, where every project reads it. auto: in the project, and what helps tasks of two projects in your home.',
    ),
  target: modelSpec
    .optional()
    .describe(
      'Model that attempts the tasks; handoff: none, questions become files; an agent, such as { agent: claude }, does them with tools in a copy of the project. Default: the target of the project, else an agent CLI that is installed.',
    ),
  optimizer: modelSpec
    .optional()
    .describe("Model that finds tasks and proposes edits. Default: that of the project's target, else the target."),
  judge: modelSpec
    .optional()
    .describe("Model that scores what no rule can. Default: that of the project's target, else the optimizer."),
  prices: configShape.prices.describe('Dollars per million tokens, by model name. Default: those of the project.'),
  promptOverrides: z
    .partialRecord(z.enum(['miner', 'attempt']), z.string())
    .default({})
    .describe('Prompts by name, miner and attempt: text, or the path of a .md file.'),
  seed: z.number().int().default(42).describe('Seed of splits and draws.'),
  retention: z
    .strictObject({ days: z.number().positive().default(180), entries: positive.default(300) })
    .default({ days: 180, entries: 300 })
    .describe('How long, and how many, tasks, nights and lines of history are kept.'),
  homes: z
    .partialRecord(z.enum(Object.keys(HOME_VARIABLES)), path)
    .default({})
    .describe("An agent's home by source, as its own variable would name it."),
};

export const SleepSettings = z.strictObject(sleepShape);
export type SleepSettings = z.output<typeof SleepSettings>;
export type SleepKey = keyof typeof sleepShape;

export function withHomes(place: Place, homes: SleepSettings['homes']): Place {
  const variables = Object.entries(homes).map(([source, home]) => [HOME_VARIABLES[source], home] as const);
  return { ...place, env: { ...place.env, ...Object.fromEntries(variables) } };
}

export function nightConfig(settings: SleepSettings): SkillOptConfigInput {
  const { editBudget, gateMetric, gateMixedWeight, gateNoRegression, seed, maxTokensPerNight, prices } = settings;
  return {
    numEpochs: 1,
    editBudget,
    minEditBudget: Math.min(2, editBudget),
    gateMetric,
    gateMixedWeight,
    regressionVeto: gateNoRegression,
    seed,
    maxTotalTokens: maxTokensPerNight,
    prices,
  };
}
