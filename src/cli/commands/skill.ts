import { Argument, Option } from 'commander';
import { type AgentName, agentPrograms } from '../../agents/index.ts';
import { tryAgent } from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine, plural } from '../../core/text/index.ts';
import { readEnvFile, resolvePath, type SandboxSpec } from '../../project/index.ts';
import { liveStepLines, triedLines } from '../../report/index.ts';
import { type Finding, findSkillFiles, type LintedSkill, lintFolder } from '../../skills/index.ts';
import { shownPath } from '../../stores/index.ts';
import { Answered, interruptible } from '../errors.ts';
import { jsonOption, positiveNumber } from '../flags/flags.ts';
import { type DefineCommand, examples, type OptionalFlags } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const defineSkill: DefineCommand = (command, terminal) => {
  const lint = command
    .command('lint [path...]')
    .description('check skills against the Agent Skills specification (default: this folder)')
    .addOption(jsonOption())
    .action((paths: string[]) => lintAll(paths.length > 0 ? paths : ['.'], terminal));
  for (const part of [command, lint]) part.addHelpText('after', LINT_EXAMPLES);
};

const LINT_EXAMPLES = examples([
  ['skillopt skill lint', 'the SKILL.md in this folder, or in the folders in it'],
  ['skillopt skill lint skills/pdf', 'one skill, its folder name and the files it links to'],
  ['skillopt skill lint skills --json', 'a folder of skills, for a script; exit code 1 with errors'],
]);

async function lintAll(paths: readonly string[], terminal: Terminal): Promise<void> {
  const cwd = terminal.io.cwd();
  const found = await Promise.all(paths.map((path) => findSkillFiles(resolvePath(cwd, path))));
  const skills = await Promise.all([...new Set(found.flat())].map(lintFolder));
  const findings = skills.flatMap((skill) => skill.findings);
  const count = (level: Finding['level']) => findings.filter((finding) => finding.level === level).length;
  const [errors, warnings] = [count('error'), count('warning')];
  const summary = `${plural(skills.length, 'skill')}: ${plural(errors, 'error')}, ${plural(warnings, 'warning')}`;
  const shown = skills.map(({ file, ...rest }) => ({ path: shownPath(file, cwd), ...rest }));
  const lines = skills.flatMap((skill) => findingLines(skill, terminal));
  terminal.answer({ isOk: errors === 0, errors, warnings, skills: shown }, [...lines, summary]);
  if (errors > 0) throw new Answered(1);
}

function findingLines({ file, findings }: LintedSkill, { io, colors }: Terminal): string[] {
  const path = oneLine(shownPath(file, io.cwd()));
  const paint = { error: colors.red, warning: colors.yellow };
  return findings.map(({ line, level, message }) => `${path}:${line}  ${paint[level](level)}  ${oneLine(message)}`);
}

type TryTextFlags = 'in' | 'model' | 'container' | 'baseUrl' | 'apiKeyEnv' | 'path';
type TryFlags = Readonly<{ agent: AgentName; skill: string; sandbox: SandboxSpec; minutes: number }> &
  OptionalFlags<TryTextFlags, never, 'maxTurns' | 'maxUsd'>;

export const defineTry: DefineCommand = (command, terminal) => {
  const names = Object.keys(agentPrograms);
  command
    .addArgument(new Argument('<task>', 'what the agent should do, in words'))
    .addOption(new Option('--agent <name>', 'the agent').choices(names).makeOptionMandatory())
    .requiredOption('--skill <path>', 'folder with a SKILL.md')
    .option('--in <dir>', 'folder that the workspace is a copy of (default: an empty one)')
    .option('--model <name>', "its model, as the agent spells it (default: the agent's own)")
    .addOption(
      new Option('--sandbox <name>', 'sandbox that the agent works in')
        .choices(['auto', 'bubblewrap', 'none'])
        .default('auto'),
    )
    .option('--container <image>', 'work in a container of this image')
    .option('--base-url <url>', 'address of its model, instead of its provider')
    .option('--api-key-env <name>', 'variable that holds its key')
    .option('--path <file>', "the agent's program (default: the one on PATH)")
    .option('--minutes <n>', 'stop after this many minutes', positiveNumber, 10)
    .option('--max-turns <n>', 'maximum number of model calls', positiveNumber)
    .option('--max-usd <n>', 'maximum cost in dollars', positiveNumber)
    .addOption(jsonOption())
    .addHelpText('after', TRY_EXAMPLES)
    .action((task: string, flags: TryFlags) => attempt(task, flags, terminal));
};

const FILL_IN = 'skillopt try "Fill in form.pdf" --agent claude --skill skills/pdf --in fixtures';
const TRY_EXAMPLES = examples([
  [FILL_IN, 'what it reads, runs and changes'],
  ['skillopt try "Say hello" --agent codex --skill skills/pdf', 'does it leave the skill alone?'],
]);

const STOPPED = 'Nothing of an attempt is kept: the same command begins again.';

async function attempt(task: string, flags: TryFlags, terminal: Terminal): Promise<void> {
  if (task.trim() === '') throw new SkillError('USAGE', 'the task is empty', { hint: 'Say what the agent should do.' });
  const { io, isJson, errorColors: colors, width } = terminal;
  const cwd = io.cwd();
  const look = { colors, width };
  const env = { ...(await readEnvFile(cwd)), ...io.env };
  const { agent, model, baseUrl: baseURL, apiKeyEnv, container, maxTurns, maxUsd, minutes } = flags;
  const tried = await interruptible({ io, onStop: terminal.say, hasAgent: true, hint: STOPPED }, (signal) =>
    tryAgent({
      ...{ agent, model, baseURL, apiKeyEnv, env, signal, prompt: task },
      skill: resolvePath(cwd, flags.skill),
      pathSetting: '--path',
      path: flags.path === undefined ? undefined : resolvePath(cwd, flags.path),
      folder: flags.in === undefined ? undefined : resolvePath(cwd, flags.in),
      sandbox: container === undefined ? flags.sandbox : { container },
      limits: { timeoutMs: minutes * 60_000, maxTurns, maxUsd, processes: 512, memoryMb: 4096, diskMb: 4096 },
      onStart: ({ id }) => terminal.say(colors.dim(`${id}; Ctrl-C ends it`)),
      onStep: (step) => {
        if (!isJson) for (const line of liveStepLines(step, look)) terminal.say(line);
      },
    }),
  );
  terminal.answer({ ...tried, task }, triedLines(tried, { colors: terminal.colors, width }));
}
