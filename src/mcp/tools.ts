import { z } from 'zod';
import type { Answer, ToolContext } from './tool-context.ts';

export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly hints: Hints;
  act(input: never, context: ToolContext): Promise<Answer>;
  /** Whether it mostly waits for something. */
  readonly isWaiting?: (input: never) => boolean;
};

type Hints = {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
};

const LOOKS: Hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const STARTS: Hints = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true };
const STOPS: Hints = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };

const project = z
  .string('PROJECT_REQUIRED: pass the absolute path of the project')
  .describe('Absolute path of the project');
const limits = {
  maxUsd: z.number().positive().optional(),
  maxMinutes: z.number().positive().optional(),
  maxCalls: z.int().positive().optional(),
};

/** A tool whose act is loaded when it is called: the engine must cost nothing before. */
function tool<Input extends z.ZodObject>(
  name: string,
  about: Pick<Tool, 'title' | 'description' | 'hints' | 'isWaiting'> & { readonly input: Input },
  load: () => Promise<(input: z.output<Input>, context: ToolContext) => Promise<Answer>>,
): Tool {
  return { name, ...about, act: async (input, context) => (await load())(input as z.output<Input>, context) };
}

const nights = () => import('./nights.ts');
const others = () => import('./looks.ts');

export const tools: readonly Tool[] = [
  tool(
    'sleep_status',
    {
      title: 'What waits',
      description: 'Proposals of past nights that wait for the person, the last night, one that is under way.',
      input: z.strictObject({ project }),
      hints: LOOKS,
    },
    async () => (await nights()).showStatus,
  ),
  tool(
    'sleep_plan',
    {
      title: 'Plan a night',
      description:
        'What a night would learn from, send, to whom, and cost. Asks no model, sends nothing. Show it to the person before sleep_run.',
      input: z.strictObject({ project, ...limits }),
      hints: LOOKS,
    },
    async () => (await nights()).showPlan,
  ),
  tool(
    'sleep_run',
    {
      title: 'Run a night',
      description:
        'Start the planned night in the background: needs the planDigest and the same limits, and the person’s yes. Costs money. Follow it with sleep_job.',
      input: z.strictObject({ project, planDigest: z.string(), ...limits }),
      hints: STARTS,
    },
    async () => (await nights()).run,
  ),
  tool(
    'sleep_job',
    {
      title: 'Follow a night',
      description: 'How far a night in the background is. waitSeconds waits for its end; cancel stops it.',
      input: z.strictObject({
        jobId: z.string(),
        waitSeconds: z.number().min(0).max(20).optional(),
        cancel: z.boolean().optional(),
      }),
      hints: STOPS,
      isWaiting: ({ waitSeconds = 0 }: { readonly waitSeconds?: number }) => waitSeconds > 0,
    },
    async () => (await nights()).follow,
  ),
  tool(
    'sleep_report',
    {
      title: 'Report of a night',
      description: 'What a night found and proposes, with the edits, scores and cost. Default: the last one.',
      input: z.strictObject({ project, night: z.int().positive().optional() }),
      hints: LOOKS,
    },
    async () => (await nights()).showReport,
  ),
  tool(
    'sleep_adopt',
    {
      title: 'How to adopt',
      description: 'Writes nothing: answers with the change and the command that the person types to adopt it.',
      input: z.strictObject({ project, id: z.string(), digest: z.string() }),
      hints: LOOKS,
    },
    async () => (await nights()).showAdoption,
  ),
  tool(
    'run_status',
    {
      title: 'State of a training run',
      description: 'Verdict, scores and cost of a training run, by the absolute path of its folder.',
      input: z.strictObject({ run: z.string() }),
      hints: LOOKS,
    },
    async () => (await others()).showRun,
  ),
  tool(
    'skill_lint',
    {
      title: 'Check a skill',
      description: 'Check a SKILL.md, or a folder of skills, against the Agent Skills specification.',
      input: z.strictObject({ path: z.string().describe('Absolute path') }),
      hints: LOOKS,
    },
    async () => (await others()).lint,
  ),
];
