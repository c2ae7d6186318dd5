import {
  type ChatRequest,
  type Item,
  memoryRun,
  PROMPT_NAMES,
  type PromptOverrides,
  type RunEvent,
  type RunFact,
  type SkillEnv,
  type SkillOptConfigInput,
  SkillOptTrainer,
  type TrainerOptions,
  toFact,
} from 'skillopt';
import { scripted } from 'skillopt/testing';
import { STRICT } from './strict-gate.ts';

/** A task of a scripted run: `train-3` has the place 3. */
export type Task = Item & { readonly k: number };

/** One question to the optimizer, with where in the run it was asked. */
export type Call = {
  readonly stage: string;
  /** The names of its prompt, with that of an added one after a `+`. */
  readonly prompt: string;
  readonly user: string;
  readonly step: number;
  readonly epoch: number;
  readonly maxOutputTokens: number | undefined;
};

/** What the optimizer says at each stage. What is not an object is sent as it is; `undefined` is babble. */
export type Script = Readonly<Record<string, (call: Call) => unknown>>;

type World = {
  /** Whether, or how well, a task is solved under a skill. */
  readonly solves: (skill: string, task: Task) => boolean | number;
  readonly initialSkill?: string;
  readonly sizes?: { readonly train?: number; readonly val?: number; readonly test?: number };
  readonly hooks?: Partial<SkillEnv<Task>>;
  /** Why a task failed; `kind: details`. */
  readonly failReason?: (task: Task) => string;
};

type RunOptions = World & {
  readonly script?: Script;
  readonly config?: SkillOptConfigInput;
  readonly store?: ReturnType<typeof memoryRun>;
  readonly options?: Partial<TrainerOptions<Task>>;
};

const NAMED: PromptOverrides = Object.fromEntries(PROMPT_NAMES.map((name) => [name, name]));

/** A run in which the target and the optimizer say what the test says, with prompts that are their own names. */
export async function scriptedRun({ script = {}, config = {}, store = memoryRun(), options, ...world }: RunOptions) {
  const calls: Call[] = [];
  const rollouts: { readonly id: string; readonly skill: string }[] = [];
  let [step, epoch] = [0, 1];
  const place = {
    onEvent(event: RunEvent) {
      if (event.type === 'step-start') ({ step, epoch } = event);
    },
  };
  const replies: Script = { ...OBLIGING, ...script };
  const optimizer = scripted('optimizer', async (request) => {
    const call = toCall(request, { step, epoch });
    calls.push(call);
    const reply = await replies[call.stage]?.(call);
    if (reply === undefined) return 'I could not say.';
    return typeof reply === 'object' ? JSON.stringify(reply) : String(reply);
  });
  const target = scripted('target', ({ messages }) => {
    const [skill, user] = [messages[0]!.content, messages[1]!.content];
    const task: Task = JSON.parse(user);
    rollouts.push({ id: task.id, skill });
    return String(Number(world.solves(skill, task)));
  });
  const trainer = new SkillOptTrainer<Task>({
    env: scriptedEnv(world),
    target,
    optimizer,
    promptOverrides: NAMED,
    ...options,
    observers: [place, ...(options?.observers ?? [])],
    config: { ...STRICT, workers: 1, maxRetries: 0, ...config },
    store,
  });
  const summary = await trainer.train();
  const facts = store.events.map(toFact);
  return {
    summary,
    store,
    facts,
    calls,
    rollouts,
    requests: { target: target.requests, optimizer: optimizer.requests },
  };
}

const tasks = (split: string, count: number): Task[] =>
  Array.from({ length: count }, (_, k) => ({ id: `${split}-${k}`, k }));

function scriptedEnv({ initialSkill = '# Skill\n', sizes = {}, hooks = {}, failReason }: World): SkillEnv<Task> {
  return {
    name: 'scripted',
    getItems: (split) => tasks(split, sizes[split as keyof typeof sizes] ?? 10),
    getInitialSkill: () => initialSkill,
    async rolloutOne({ item, skill, target }) {
      const messages = [
        { role: 'system' as const, content: skill },
        { role: 'user' as const, content: JSON.stringify(item) },
      ];
      const { text } = await target.complete({ messages });
      const hard = Number(text);
      const conversation = [{ role: 'user', content: `task ${item.id}` }];
      return {
        hard,
        soft: hard,
        conversation,
        ...(hard ? {} : { failReason: failReason?.(item) ?? 'wrong: as said' }),
      };
    },
    ...hooks,
  };
}

function toCall({ messages, stage = '', maxOutputTokens }: ChatRequest, place: { step: number; epoch: number }): Call {
  const [system, user] = [messages[0]!.content, messages[1]!.content];
  return { stage, prompt: system.replaceAll('\n', '+'), user, maxOutputTokens, ...place };
}

/** Merges keep everything once, rankings keep the order, and nobody else has anything to say. */
const OBLIGING: Script = {
  analyst: () => ({ patch: { edits: [] } }),
  merge: ({ user }) => mergeAll(user),
  ranking: () => ({ selected_indices: Array.from({ length: 20 }, (_, index) => index) }),
  slow_update: () => ({ slow_update_content: '' }),
  meta_skill: () => ({ meta_skill_content: '' }),
};

const LISTS = ['edits', 'revise_suggestions', 'skill_candidates'];

function mergeAll(user: string) {
  const patches = [...user.matchAll(/<patches-(\w+)>\n(.*?)\n<\/patches-\1>/gs)].flatMap(([, , text]) =>
    JSON.parse(text!),
  );
  const key = LISTS.find((name) => name in patches[0])!;
  const items = patches.flatMap((patch) => patch[key]);
  const nameOf = ({ op, type, target, title, content, instruction, new_skill }: Record<string, unknown>) =>
    JSON.stringify([op, type, target, title, content, instruction, new_skill]);
  const once = new Map(items.map((item) => [nameOf(item), item]));
  return { reasoning: 'all of them', [key]: [...once.values()] };
}

/** What analysts say when they want these lines appended. */
export const appends = (...lines: readonly string[]) => ({
  patch: { reasoning: '', edits: lines.map((content) => ({ op: 'append', content })) },
});

/** Every fact of a type, in order. */
export const ofType = <Type extends RunFact['type']>(facts: readonly RunFact[], type: Type) =>
  facts.filter((fact): fact is Extract<RunFact, { type: Type }> => fact.type === type);

type StageFact = Extract<RunFact, { type: 'stage-end' }>;

export const ofStage = <Stage extends StageFact['stage']>(facts: readonly RunFact[], stage: Stage) =>
  ofType(facts, 'stage-end').filter((fact): fact is Extract<StageFact, { stage: Stage }> => fact.stage === stage);

/** The last `LEVEL=n` of a text: in the world of levels, task k is solved from level k on. */
export const levelOf = (text: string) => Number([...text.matchAll(/LEVEL=(\d+)/g)].at(-1)?.[1] ?? 0);
export const byLevel = (skill: string, { k }: Task) => levelOf(skill) >= k;
