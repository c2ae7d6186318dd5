import { Argument, Option } from 'commander';
import { type AgentName, agentPrograms } from '../../agents/index.ts';
import { tryAgent } from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { agentVariables, readEnvFile, resolvePath, type SandboxSpec } from '../../project/index.ts';
import { liveStepLines, triedLines } from '../../report/index.ts';
import { interruptible } from '../errors.ts';
import { jsonOption, positiveNumber } from '../flags/flags.ts';
import { type DefineCommand, examples, type OptionalFlags } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

type TextFlags = 'in' | 'model' | 'container' | 'baseUrl' | 'apiKeyEnv' | 'path';
type Flags = Readonly<{ agent: AgentName; skill: string; sandbox: SandboxSpec; minutes: number }> &
  OptionalFlags<TextFlags, never, 'maxTurns' | 'maxUsd'>;

export const define: DefineCommand = (command, terminal) => {
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
    .addHelpText('after', EXAMPLES)
    .action((task: string, flags: Flags) => attempt(task, flags, terminal));
};

const FILL_IN = 'skillopt try "Fill in form.pdf" --agent claude --skill skills/pdf --in fixtures';
const EXAMPLES = examples([
  [FILL_IN, 'what it reads, runs and changes'],
  ['skillopt try "Say hello" --agent codex --skill skills/pdf', 'does it leave the skill alone?'],
]);

const STOPPED = 'Nothing of an attempt is kept: the same command begins again.';

async function attempt(task: string, flags: Flags, terminal: Terminal): Promise<void> {
  if (task.trim() === '') throw new SkillError('USAGE', 'the task is empty', { hint: 'Say what the agent should do.' });
  const { io, isJson, errorColors: colors, width } = terminal;
  const cwd = io.cwd();
  const look = { colors, width };
  const { agent, model, baseUrl: baseURL, apiKeyEnv, container, maxTurns, maxUsd, minutes } = flags;
  const places = { env: io.env, fromFile: await readEnvFile(cwd), isSpecOwn: true };
  const env = agentVariables({ agent, model, baseURL, apiKeyEnv }, places);
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
