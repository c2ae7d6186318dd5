import type { CommandEntry } from './define-command.ts';

/** Every command, loaded when it is called: help must cost nothing. */
export const commands: readonly CommandEntry[] = [
  { name: 'demo', summary: 'train in a simulated world, offline', load: () => import('./commands/demo.ts') },
  {
    name: 'init',
    summary: 'look for a skill, tasks and models, and write a project',
    load: () => import('./commands/init.ts'),
  },
  {
    name: 'tasks',
    summary: 'draft tasks from a skill, review them, check them',
    load: () => import('./commands/tasks.ts'),
  },
  { name: 'train', summary: 'train the project in this folder, or resume', load: () => import('./commands/train.ts') },
  {
    name: 'estimate',
    summary: 'calls, tokens and dollars, before anything is spent',
    load: () => import('./commands/estimate.ts'),
  },
  {
    name: 'watch',
    summary: 'follow a run that another process is at work on',
    load: () => import('./commands/watch.ts'),
  },
  { name: 'runs', summary: 'list runs', load: () => import('./commands/runs.ts') },
  { name: 'show', summary: 'sum up one run', load: () => import('./commands/show.ts') },
  { name: 'diff', summary: 'what changed between two versions of a skill', load: () => import('./commands/diff.ts') },
  {
    name: 'apply',
    summary: 'put what a run learned into the skill that it began from',
    load: () => import('./commands/apply.ts'),
  },
  { name: 'eval', summary: 'score a skill document', load: () => import('./commands/eval.ts') },
  {
    name: 'compare',
    summary: 'two runs or skills on the same tasks: which is better, and is it proven',
    load: () => import('./commands/compare.ts'),
  },
  {
    name: 'try',
    summary: 'one task for an agent with a skill, live: what it reads, runs and changes',
    load: () => import('./commands/try.ts'),
  },
  {
    name: 'calibrate',
    summary: 'how much of a score is noise, and which gains can be proven',
    load: () => import('./commands/calibrate.ts'),
  },
  {
    name: 'sleep',
    summary: "learn from your coding agents' transcripts, at night",
    load: () => import('./commands/sleep.ts'),
  },
  {
    name: 'doctor',
    summary: 'check what a run needs, with one tiny call per model',
    load: () => import('./commands/doctor.ts'),
  },
  { name: 'cache', summary: 'what the caches of runs hold; clear one', load: () => import('./commands/cache.ts') },
  { name: 'skill', summary: 'check skills against the specification', load: () => import('./commands/skill.ts') },
  { name: 'sim', summary: 'serve the simulated models over HTTP', load: () => import('./commands/sim.ts') },
  {
    name: 'completion',
    summary: 'print what lets a shell complete commands',
    load: async () => ({ define: (await import('./commands/completion.ts')).defineFor(commands) }),
  },
];
