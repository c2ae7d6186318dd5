import type { CommandEntry } from './run-command.ts';

const entry = (name: string, summary: string, load: CommandEntry['load']): CommandEntry => ({ name, summary, load });

/** Every command, loaded when it is called: help must cost nothing. */
export const commands: readonly CommandEntry[] = [
  entry('demo', 'train in a simulated world, offline', () => import('./commands/demo.ts')),
  entry('init', 'look for a skill, tasks and models, and write a project', () => import('./commands/init.ts')),
  entry('tasks', 'draft tasks from a skill, review them, check them', () => import('./commands/tasks.ts')),
  entry('train', 'train the project in this folder, or resume', () => import('./commands/train.ts')),
  entry('estimate', 'calls, tokens and dollars, before anything is spent', () => import('./commands/estimate.ts')),
  entry('watch', 'follow a run that another process is at work on', () => import('./commands/watch.ts')),
  entry('runs', 'list runs', () => import('./commands/runs.ts')),
  entry('show', 'sum up one run', () => import('./commands/show.ts')),
  entry('diff', 'what changed between two versions of a skill', () => import('./commands/diff.ts')),
  entry('apply', 'put what a run learned into the skill that it began from', () => import('./commands/apply.ts')),
  entry('eval', 'score a skill document', () => import('./commands/eval.ts')),
  entry(
    'compare',
    'two runs or skills on the same tasks: which is better, and is it proven',
    () => import('./commands/compare.ts'),
  ),
  entry(
    'try',
    'one task for an agent with a skill, live: what it reads, runs and changes',
    () => import('./commands/try.ts'),
  ),
  entry(
    'calibrate',
    'how much of a score is noise, and which gains can be proven',
    () => import('./commands/calibrate.ts'),
  ),
  entry('sleep', "learn from your coding agents' transcripts, at night", () => import('./commands/sleep.ts')),
  entry('doctor', 'check what a run needs, with one tiny call per model', () => import('./commands/doctor.ts')),
  entry('cache', 'what the caches of runs hold; clear one', () => import('./commands/cache.ts')),
  entry('skill', 'check skills against the specification', () => import('./commands/skill.ts')),
  entry('sim', 'serve the simulated models over HTTP', () => import('./commands/sim.ts')),
  entry('completion', 'print what lets a shell complete commands', async () => ({
    define: (await import('./commands/completion.ts')).defineFor(commands),
  })),
];
