import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ChatModel, SkillError } from '../../core/contracts/index.ts';
import { withTimeout } from '../../models/index.ts';
import { type AgentTarget, agentTargetOf, resolveModel } from '../../project/index.ts';
import {
  consentMissing,
  findWork,
  isSimulated,
  type OpenSleep,
  readSleepState,
  withoutConsent,
} from '../../sleep/index.ts';
import { writePrivate } from '../../stores/index.ts';
import { priceFor } from '../../train/index.ts';
import { type NightPlan, planOf } from '../night/plan-night.ts';
import type { NightLimits } from '../night/run-night.ts';

/** One thing that a night needs. `error` says why it is missing. */
export type NightCheck = {
  readonly name: string;
  readonly isOk: boolean;
  readonly detail: string;
  readonly remedy?: string;
  readonly error?: SkillError;
};

type Examining = { readonly open: () => Promise<OpenSleep>; readonly limits: NightLimits };

/** What a night needs, each looked at by itself. Each model gets one tiny call, without a word of a session. */
export async function examineNight({ open, limits }: Examining): Promise<NightCheck[]> {
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

async function check(name: string, look: () => Promise<string>): Promise<NightCheck> {
  try {
    return { name, isOk: true, detail: await look() };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    return { name, isOk: false, detail: error.message, ...(error.hint ? { remedy: error.hint } : {}), error };
  }
}

type Trying = { readonly sleep: OpenSleep; readonly limits: NightLimits; readonly asked: Set<string> };

/** A sign-in that works in a shell may not work without it. */
async function tryModel(role: 'target' | 'optimizer' | 'judge', spec: NightPlan['models']['target'], trying: Trying) {
  const { sleep, limits, asked } = trying;
  const agent = role === 'target' ? agentTargetOf({ target: spec }) : undefined;
  if (agent !== undefined) return tryAgent(agent, trying);
  const where = { role, env: sleep.callerEnv, directory: sleep.project };
  const model = await resolveModel(spec, where).catch((error) => {
    throw error instanceof SkillError ? withoutShell(error) : error;
  });
  requirePrice(model, limits);
  if (isSimulated(spec) || asked.has(model.id)) return model.id;
  asked.add(model.id);
  await askForOneWord(model);
  return `${model.id} answered`;
}

const CALL_TIMEOUT_MS = 30_000;

/** One tiny call, with room for a model that thinks before it answers. */
async function askForOneWord(model: ChatModel): Promise<void> {
  const messages = [{ role: 'user' as const, content: 'Answer with the word ok.' }];
  await withTimeout(model, CALL_TIMEOUT_MS).complete({ messages, maxOutputTokens: 1024, stage: 'doctor' });
}

/** Its program and its sandbox: what it is asked at night costs more than a word. */
async function tryAgent(spec: AgentTarget, { sleep: { callerEnv, project }, limits }: Trying): Promise<string> {
  const { agent, sandbox } = await findWork(spec, { env: callerEnv, project });
  requirePrice(agent, limits);
  return `${agent.id} is there, and so is its sandbox (${sandbox.id})`;
}

function requirePrice(model: Parameters<typeof priceFor>[0], { maxCostUsd }: NightLimits): void {
  if (maxCostUsd === undefined || priceFor(model, {}) !== undefined) return;
  const hint = 'Limit the night with --max-minutes or --max-calls instead.';
  throw new SkillError('CONFIG_INVALID', `the price of ${model.id} is unknown, and the night is limited in dollars`, {
    hint,
  });
}

/** Variables that are set in a shell do not exist at night. */
function withoutShell({ code, message, hint }: SkillError): SkillError {
  const told = hint?.replace(/^Set it: export .* Or write/, 'A nightly job has no variables of your shell: write');
  return new SkillError(code, message, told === undefined ? {} : { hint: told });
}
