import { z } from 'zod';
import type { RateLimiter, Usage } from './model.ts';

/** SKILL.md and the files beside it, by path. */
export type SkillPackage = {
  readonly files: Readonly<Record<string, string>>;
  /** Installed with the rest, and never edited. */
  readonly binaries?: Readonly<Record<string, Uint8Array>>;
};

export type AgentRunRequest = {
  readonly workspace: WorkspaceView;
  readonly prompt: string;
  readonly skills: readonly SkillPackage[];
  readonly limits: AgentLimits;
  readonly stage?: string;
  readonly sampleIndex: number;
  readonly signal: AbortSignal;
  readonly onStep?: ((step: AgentStep) => void) | undefined;
  /** Called before each model call and each further try of it, and when its usage is known; only by a runner that `tellsSpending`. */
  readonly onSpend?: ((spending: AgentSpending) => void) | undefined;
  /** How often it asks its model again, and the line in which its calls wait; only for a runner that `tellsSpending`. */
  readonly asking?: { readonly maxRetries: number; readonly limiter: RateLimiter } | undefined;
  /** Ends the run, as done, at the first step for which it holds. */
  readonly until?: ((step: AgentStep) => boolean) | undefined;
};

export type AgentSpending = {
  /** Further tries included. */
  readonly calls: number;
  /** Of the calls: those that are over, without further tries, and those without an answer yet. */
  readonly answered?: number | undefined;
  readonly inFlight?: number | undefined;
  readonly usage: Usage;
  readonly costUsd?: number | undefined;
  /** With the most that calls in flight may take. */
  readonly most: { readonly totalTokens: number; readonly costUsd: number };
};

/** What an agent did, in order. `id` joins a call and its result. */
export type AgentStep =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool-call'; readonly id: string; readonly tool: string; readonly input: unknown }
  | { readonly type: 'tool-result'; readonly id: string; readonly output: string; readonly isError: boolean }
  | { readonly type: 'skill-loaded'; readonly name: string };

export type OfferedSkill = {
  readonly name: string;
  /** How much of its description the model saw; absent where only names can be seen. */
  readonly description?: 'whole' | 'cut' | 'none';
};

/** Why a run ended. A limit that was reached is a result, not an outage. */
export type AgentEnd = 'done' | 'timeout' | 'turns' | 'budget' | 'resources' | 'killed';

export const END_WORDS: Readonly<Record<AgentEnd, string>> = {
  done: 'it said that it was done',
  timeout: 'its time was up',
  turns: 'it had used all its turns',
  budget: 'it had spent what it may',
  resources: 'it reached its limit of memory, processes or disk',
  killed: 'its program was killed from inside the sandbox',
};

export type AgentRun = {
  readonly text: string;
  readonly ended: AgentEnd;
  readonly endReason?: string;
  readonly turns: number;
  /** Model calls, further tries included. Absent where only turns can be seen. */
  readonly calls?: number;
  readonly steps: readonly AgentStep[];
  readonly skillsOffered: readonly OfferedSkill[];
  readonly skillsLoaded: readonly string[];
  readonly usage: Usage;
  readonly costUsd?: number;
  /** Other models that it asked for and was refused: how often, by name. */
  readonly modelsRefused?: Readonly<Record<string, number>>;
};

/** What can be seen of an agent's work, and limited. */
export type AgentCapabilities = {
  /** Loading a skill is seen by an event, or by the files that the agent reads. */
  readonly seesLoading: 'event' | 'reads';
  readonly seesOffers: boolean;
  readonly limitsTurns: boolean;
};

/**
 * Who pays for an agent's model: a key that stays outside of the sandbox; nobody, at an address of the user's; a file or a
 * variable of the agent's own; perhaps a keyring, which cannot be seen; or nothing that was found.
 */
export type AgentSignIn = 'key' | 'address' | 'file' | 'variable' | 'unseen' | 'none';

export type AgentAbout = {
  readonly agent: string;
  /** `unknown` where the program does not say. */
  readonly version: string;
  readonly path: string;
  readonly model?: string;
  readonly sandbox: string;
  readonly signIn: AgentSignIn;
};

/** An agent with tools and a workspace, as a `ChatModel` is for chat. */
export interface AgentRunner {
  /** All that changes what it does: rollouts are cached under it. */
  readonly id: string;
  readonly account?: string;
  readonly modelName?: string;
  readonly capabilities?: AgentCapabilities;
  /** Whether `onSpend` is called before every model call. */
  readonly tellsSpending?: boolean;
  /** Absent if it is no program of this machine. */
  readonly about?: AgentAbout;
  /** Throws `ModelCallError` when its model could not be reached, and the reason of an aborted signal. */
  run(request: AgentRunRequest): Promise<AgentRun>;
}

const positive = z.number().positive();
/** Timers cannot wait for weeks: they end at once. */
const A_DAY_MS = 86_400_000;

/** As files say it, for a target or one task. */
export const AgentLimitsSpec = z
  .strictObject({
    timeoutMs: positive.int().max(A_DAY_MS),
    maxTurns: positive.int(),
    maxUsd: positive,
    maxTokens: positive.int(),
    processes: positive.int(),
    memoryMb: positive,
    /** Written into its workspace, its home and its temporary folder. */
    diskMb: positive,
  })
  .partial();
export type AgentLimits = Readonly<z.output<typeof AgentLimitsSpec>> & { readonly timeoutMs: number };
/** `diskMb`: of all that a command writes. */
export type ResourceLimits = Pick<AgentLimits, 'processes' | 'memoryMb' | 'diskMb'>;

/** A folder that a command may change. */
export type WorkspaceView = {
  /** For an overlay, an empty folder that it is mounted on. */
  readonly path: string;
  /** Changes are kept in `upper`; `lower` stays as it is. `scratch` is the file system's own. */
  readonly overlay?: { readonly lower: string; readonly upper: string; readonly scratch: string };
  /** Another path under which a command sees it: some tasks speak of `/app`. */
  readonly alsoAt?: string;
};

export type FileChange = {
  readonly path: string;
  readonly change: 'added' | 'changed' | 'deleted';
  readonly patch?: string;
  /** In place of a patch: a hash and a size, or why there is none. */
  readonly note?: string;
};

export type WorkspaceDiff = {
  readonly changes: readonly FileChange[];
  /** Folders that were not read, and what was too much to show. */
  readonly leftOut: readonly string[];
};

/** A file or folder that a command sees under another path, where the sandbox can do that. */
export type Mount = { readonly from: string; readonly to: string; readonly isWritable?: boolean };

/** A command that runs apart from everything else on the machine. */
export type SandboxRequest = {
  /** A program and its arguments. No shell reads them. */
  readonly command: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  /** A folder of the caller's that it may change. By default a fresh one, which is removed afterwards. */
  readonly cwd?: string;
  /** In place of `cwd`: seen as `/workspace`, or at its own path where folders keep their names. */
  readonly workspace?: WorkspaceView;
  /** What it sees besides the system's programs. `env.HOME` names the home. */
  readonly mounts?: readonly Mount[];
  /** `none` by default, not even this machine's. */
  readonly network?: 'none' | 'open';
  readonly stdin?: string;
  /** All of its environment, but for what is needed to find programs. */
  readonly env?: Readonly<Record<string, string>>;
  /** Programs that do nothing; their calls are noted. */
  readonly tools?: readonly string[];
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly limits?: ResourceLimits;
  readonly onLine?: ((line: string) => void) | undefined;
  /** What comes after it is read and forgotten. */
  readonly maxOutputBytes?: number;
};

export function isPlainPath(path: string): boolean {
  const isPlain = path.split('/').every((name) => /^[^\0\\]+$/.test(name) && name !== '.' && name !== '..');
  return isPlain && !/^[A-Za-z]:/.test(path);
}

export type SandboxResult = {
  /** `undefined` if a signal ended it. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly timedOut: boolean;
  readonly exceeded?: keyof ResourceLimits | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly toolsCalled: readonly string[];
};

export interface Sandbox {
  readonly id: string;
  /** Whether mounts and the workspace have paths of their own; otherwise they keep theirs. */
  readonly hasOwnNames: boolean;
  /** Whether an overlay below `root` works here: file systems differ. */
  readonly takesOverlays: (root?: string) => Promise<boolean>;
  /** Throws `SANDBOX_UNAVAILABLE` when nothing can run in it here. */
  ready(): Promise<void>;
  /** Returns whatever the command does, also when it fails. Throws when it could not be started, and the signal's reason. */
  run(request: SandboxRequest): Promise<SandboxResult>;
}
