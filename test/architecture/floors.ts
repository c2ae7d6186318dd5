/**
 * The floors of the house, from the ground up. A room imports the doors of rooms on lower floors, and its own files. Rooms on one
 * floor do not know each other. This is the only list: the tests, AGENTS.md and CONTRIBUTING.md are checked against it.
 */
export const floors: readonly Readonly<Record<string, string>>[] = [
  { 'core/text': 'words, JSON, names, similarity' },
  { 'core/stats': 'the statistics of the gate' },
  { 'core/document': 'a skill document, its edits and its parts' },
  { 'core/guard': 'secrets, poison, leaked answers' },
  { 'core/contracts': 'errors, config, environment, model, agent: what rooms agree on' },
  { 'core/judge': 'answers judged by rules' },
  { 'core/run': 'events, journal, `reduce`, summary, views' },
  { 'core/page': 'a run as pages show it: `projectRun`, its figures, what a server answers' },
  {
    report: 'figures in, text out: terminal, Markdown, JUnit, GitHub',
    imports: 'task files: rows of CSV, JSON, YAML, Parquet; files of promptfoo, evals, Harbor, dotnet',
  },
  {
    pipeline: 'the stages: rollout, reflect, update, evaluate',
    models: 'providers, wrappers, budgets, the gateway for agents',
    agents: 'the CLIs of coding agents',
    workspaces: 'sandboxes, folders and limits for commands',
    envs: 'question answering, splits, adapters',
    judges: 'answers judged by a model or a command',
    stores: 'run directory, journal file, lock, caches',
    transcripts: 'sessions that coding agents keep',
    sim: 'worlds, models and people whose truth is known',
  },
  { skills: 'skill folders on disk, and how live files are replaced' },
  {
    runners: 'agents at work on tasks',
    plugins: 'the plugin for agents: installed, examined, taken out again',
    benchmarks: 'the six benchmarks: their data, and how their items are attempted and scored',
  },
  {
    train: 'the loop',
    project: 'the project file; models and environments by name',
    workers: 'attempts on other machines, through a queue',
  },
  { tasks: 'drafting, checking, reviewing tasks' },
  { sleep: 'transcripts become tasks, and tasks a proposal' },
  { app: 'opens a project, a run, a night; applies, compares, examines. Prints nothing' },
  {
    server: 'runs as pages over HTTP, and reports in one file',
    mcp: 'tools for agents over stdin and stdout: nights, runs, skills',
  },
  { public: 'what the package exports, one file an entry' },
  {
    web: 'the page in a browser: imports `core` alone, and nothing imports it',
    cli: 'arguments, prompts, progress, exit codes',
    testing: 'doubles for tests; imported by nothing in src but its export',
  },
];
