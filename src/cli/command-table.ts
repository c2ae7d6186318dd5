import type { CommandEntry, DefineCommand } from './run-command.ts';

const entry = (name: string, summary: string, load: CommandEntry['load']): CommandEntry => ({ name, summary, load });

/** One of several commands in a file. */
const one =
  <Key extends string>(load: () => Promise<Readonly<Record<Key, DefineCommand>>>, key: Key) =>
  async () => ({ define: (await load())[key] });

const training = () => import('./commands/train.ts');
const runs = () => import('./commands/runs.ts');
const pages = () => import('./commands/pages.ts');
const scoring = () => import('./commands/score.ts');

/** Every command, loaded when it is called: help must cost nothing. */
export const commands: readonly CommandEntry[] = [
  entry('demo', 'train in a simulated world, offline', () => import('./commands/demo.ts')),
  entry('init', 'look for a skill, tasks and models, and write a project', () => import('./commands/init.ts')),
  entry('tasks', 'draft tasks from a skill, review them, check them', () => import('./commands/tasks.ts')),
  entry('train', 'train the project in this folder, or resume', one(training, 'defineTrain')),
  entry('estimate', 'calls, tokens and dollars, before anything is spent', one(training, 'defineEstimate')),
  entry('watch', 'follow a run that another process is at work on', one(training, 'defineWatch')),
  entry('runs', 'list runs', one(runs, 'defineRuns')),
  entry('show', 'sum up one run', one(runs, 'defineShow')),
  entry('diff', 'what changed between two versions of a skill', one(runs, 'defineDiff')),
  entry('ui', 'show runs in a browser, live', one(pages, 'defineUi')),
  entry('report', 'write a run as one HTML file', one(pages, 'defineReport')),
  entry('apply', 'put what a run learned into the skill that it began from', () => import('./commands/apply.ts')),
  entry('eval', 'score a skill document', one(scoring, 'defineEval')),
  entry(
    'compare',
    'two runs or skills on the same tasks: which is better, and is it proven',
    one(scoring, 'defineCompare'),
  ),
  entry(
    'try',
    'one task for an agent with a skill, live: what it reads, runs and changes',
    () => import('./commands/try.ts'),
  ),
  entry('calibrate', 'how much of a score is noise, and which gains can be proven', one(scoring, 'defineCalibrate')),
  entry('sleep', "learn from your coding agents' transcripts, at night", () => import('./commands/sleep.ts')),
  entry('worker', 'make the attempts of runs on other machines, through a queue', () => import('./commands/worker.ts')),
  entry('mcp', 'tools for coding agents: nights, runs, skills', () => import('./commands/mcp.ts')),
  entry('doctor', 'check what a run needs, with one tiny call per model', () => import('./commands/doctor.ts')),
  entry('cache', 'what the caches of runs hold; clear one', one(runs, 'defineCache')),
  entry(
    'bench',
    'the six benchmarks: read their data, check what stands against a number',
    () => import('./commands/bench.ts'),
  ),
  entry('skill', 'check skills against the specification', () => import('./commands/skill.ts')),
  entry('plugin', 'give a coding agent the skill and the tools of skillopt', () => import('./commands/plugin.ts')),
  entry('sim', 'serve the simulated models over HTTP', () => import('./commands/sim.ts')),
  entry('completion', 'print what lets a shell complete commands', async () => ({
    define: (await import('./commands/completion.ts')).defineFor(commands),
  })),
];
