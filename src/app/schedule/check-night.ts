import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { type AgentTarget, agentTargetOf, resolveModel } from '../../project/index.ts';
import {
  consentMissing,
  findWork,
  isSimulated,
  type OpenSleep,
  readSleepState,
  rolesOfProject,
  withoutConsent,
} from '../../sleep/index.ts';
import { writePrivate } from '../../stores/index.ts';
import { priceFor } from '../../train/index.ts';
import { askForOneWord } from '../examine.ts';
import { type Check, check } from '../examine-agents.ts';
import type { NightLimits } from '../night/plan-night.ts';
import { type NightPlan, planOf } from '../night/plan-night.ts';

/** Checks each thing that a night needs. Each model gets one tiny call, without a word of a session. */
export async function examineNight(open: () => Promise<OpenSleep>, limits: NightLimits): Promise<Check[]> {
  let sleep: OpenSleep | undefined;
  let plan: NightPlan | undefined;
  const state = await check('state', async () => {
    sleep = await open();
    const probe = join(sleep.folder, `state.json.probe-${process.pid}`);
    await writePrivate(probe, '').finally(() => rm(probe, { force: true }));
    return `${sleep.folder} can be written`;
  });
  if (sleep === undefined) return [state];
  using opened = sleep;
  const named = await check('models', async () => {
    plan = await planOf(opened, []);
    return 'named';
  });
  if (plan === undefined) return [state, named];
  const { recipients, models } = plan;
  const asked = new Set<string>();
  const checks = [state, named];
  for (const role of ['target', 'optimizer', 'judge'] as const) {
    checks.push(await check(role, () => tryModel(role, models[role], { sleep: opened, limits, asked })));
  }
  const consent = await check('consent', async () => {
    const missing = withoutConsent(recipients, await readSleepState(opened.folder));
    if (missing.length > 0) throw consentMissing(missing);
    return 'given, or not needed';
  });
  return [...checks, consent];
}

/** `asked` keeps the ids of models that were asked already. */
type Trial = { readonly sleep: OpenSleep; readonly limits: NightLimits; readonly asked: Set<string> };

/** A sign-in that works in a shell may not work without it. */
async function tryModel(role: 'target' | 'optimizer' | 'judge', spec: NightPlan['models']['target'], trial: Trial) {
  const { sleep, limits, asked } = trial;
  const agent = role === 'target' ? agentTargetOf({ target: spec }) : undefined;
  if (agent !== undefined) return tryAgent(agent, trial);
  const isSpecOwn = !rolesOfProject(sleep).has(role);
  const where = { role, env: sleep.callerEnv, directory: sleep.project, isAddressOwn: true, isSpecOwn };
  const model = await resolveModel(spec, where).catch((error) => {
    throw error instanceof SkillError ? withoutShell(error) : error;
  });
  requirePrice(model, limits, sleep.settings);
  if (isSimulated(spec) || asked.has(model.id)) return model.id;
  asked.add(model.id);
  await askForOneWord(model);
  return `${model.id} answered`;
}

/** Only the program and the sandbox: an agent cannot be asked for just one word. */
async function tryAgent(spec: AgentTarget, { sleep, limits }: Trial): Promise<string> {
  const { callerEnv: env, project, settings } = sleep;
  const isSpecOwn = !rolesOfProject(sleep).has('target');
  const { agent, sandbox } = await findWork(spec, { env, project, settings, isSpecOwn });
  requirePrice(agent, limits, settings);
  return `${agent.id} is there, and so is its sandbox (${sandbox.id})`;
}

function requirePrice(
  model: Parameters<typeof priceFor>[0],
  { maxCostUsd }: NightLimits,
  { prices }: OpenSleep['settings'],
): void {
  if (maxCostUsd === undefined || priceFor(model, prices) !== undefined) return;
  const message = `the price of ${model.id} is unknown, and the night is limited in dollars`;
  const hint = 'Write its price under prices in the project file, or limit the night with maxMinutes or maxCalls.';
  throw new SkillError('CONFIG_INVALID', message, { hint });
}

/** Variables that are set in a shell do not exist at night. */
function withoutShell({ code, message, hint }: SkillError): SkillError {
  const nightly = hint?.replace(/^Set it: export .* Or write/, 'A nightly job has no variables of your shell: write');
  return new SkillError(code, message, nightly === undefined ? {} : { hint: nightly });
}
