import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { askForOneWord, type Check, check } from '../../../app/index.ts';
import { SkillError } from '../../../core/contracts/index.ts';
import { type AgentTarget, agentTargetOf, resolveModel } from '../../../project/index.ts';
import {
  consentMissing,
  findWork,
  isSimulated,
  type NightJob,
  type NightPlan,
  readSleepState,
  withoutConsent,
} from '../../../sleep/index.ts';
import { writePrivate } from '../../../stores/index.ts';
import { priceFor } from '../../../train/index.ts';
import { checkInFlags } from '../../flags/in-flags.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { type OpenSleep, openSleep } from '../open-sleep.ts';
import { planOf } from '../plan-lines.ts';
import type { RunFlags } from '../run.ts';

/** What a night would need, each looked at by itself: called by `schedule`, in the job's own environment. */
export async function checkNight(flags: RunFlags, terminal: Terminal): Promise<void> {
  const checks: Check[] = [];
  for await (const one of examineNight(flags, terminal)) checks.push(checkInFlags(one));
  terminal.answer(
    { checks },
    checks.map(({ name, detail }) => `${name}: ${detail}`),
  );
}

async function* examineNight(flags: RunFlags, terminal: Terminal): AsyncGenerator<Check> {
  let sleep: OpenSleep | undefined;
  yield await check('state', async () => {
    sleep = await openSleep(flags, terminal);
    const probe = join(sleep.folder, `state.json.probe-${process.pid}`);
    await writePrivate(probe, '').finally(() => rm(probe, { force: true }));
    return `${sleep.folder} can be written`;
  });
  if (sleep === undefined) return;
  using open = sleep;
  let plan: NightPlan | undefined;
  yield await check('models', async () => {
    plan = await planOf(open, []);
    return 'named';
  });
  if (plan === undefined) return;
  const { recipients, models } = plan;
  const asked = new Set<string>();
  for (const role of ['target', 'optimizer', 'judge'] as const) {
    yield await check(role, () => tryModel(role, models[role], { open, flags, asked, env: terminal.io.env }));
  }
  yield await check('consent', async () => {
    const missing = withoutConsent(recipients, await readSleepState(open.folder));
    if (missing.length > 0) throw consentMissing(missing);
    return 'given, or not needed';
  });
}

type Trying = {
  readonly open: OpenSleep;
  readonly flags: RunFlags;
  readonly asked: Set<string>;
  readonly env: OpenSleep['place']['env'];
};

/** One tiny call, without a word of a session: a sign-in that works in a shell may not work without it. */
async function tryModel(role: 'target' | 'optimizer' | 'judge', spec: NightPlan['models']['target'], trying: Trying) {
  const { env, open } = trying;
  const agent = role === 'target' ? agentTargetOf({ target: spec }) : undefined;
  if (agent !== undefined) return tryAgent(agent, trying);
  const model = await resolveModel(spec, { role, env, directory: open.project }).catch((error) => {
    throw error instanceof SkillError ? withoutShell(error) : error;
  });
  requirePrice(model, trying.flags);
  if (isSimulated(spec) || trying.asked.has(model.id)) return model.id;
  trying.asked.add(model.id);
  await askForOneWord(model);
  return `${model.id} answered`;
}

/** Its program and its sandbox: what it is asked at night costs more than a word. */
async function tryAgent(spec: AgentTarget, { env, open: { project }, flags }: Trying): Promise<string> {
  const { agent, sandbox } = await findWork(spec, { env, project });
  requirePrice(agent, flags);
  return `${agent.id} is there, and so is its sandbox (${sandbox.id})`;
}

function requirePrice(model: Parameters<typeof priceFor>[0], { maxCostUsd }: RunFlags): void {
  if (maxCostUsd === undefined || priceFor(model, {}) !== undefined) return;
  const hint = 'Cap the night with --max-minutes or --max-calls instead.';
  throw new SkillError('CONFIG_INVALID', `the price of ${model.id} is not known, and dollars are the cap`, { hint });
}

/** Variables that are set in a shell are not there at night. */
function withoutShell({ code, message, hint }: SkillError): SkillError {
  const told = hint?.replace(/^Set it: export .* Or write/, 'A nightly job has no variables of your shell: write');
  return new SkillError(code, message, told === undefined ? {} : { hint: told });
}

/** The same command as the job's, in the job's environment and no other, but only looking. */
export async function checkJob({ command, env, project }: NightJob): Promise<Check[]> {
  const [file = '', ...args] = command;
  const options = { cwd: project, env, extendEnv: false, reject: false, timeout: 300_000, stdin: 'ignore' } as const;
  const { stdout, stderr, shortMessage } = await execa(file, [...args, '--check'], options);
  const checks = checksIn(stdout);
  if (checks !== undefined) return checks;
  const detail = (stderr.trim() || shortMessage || 'it said nothing').slice(-1000);
  return [{ name: 'job', isOk: false, detail: `the night's command did not start: ${detail}` }];
}

function checksIn(stdout: string): Check[] | undefined {
  try {
    return JSON.parse(stdout).checks;
  } catch {
    return undefined;
  }
}
