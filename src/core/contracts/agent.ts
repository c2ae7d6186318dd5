import { z } from 'zod';
import type { Usage } from './model.ts';

/** A skill as agents load it: SKILL.md and what lies beside it, by path. */
export type SkillPackage = {
  readonly files: Readonly<Record<string, string>>;
  /** What is no text. It is installed with the rest, and never edited. */
  readonly binaries?: Readonly<Record<string, Uint8Array>>;
};

export type AgentRunRequest = {
  /** The agent may change it. */
  readonly workspace: WorkspaceView;
  readonly prompt: string;
  readonly skills: readonly SkillPackage[];
  readonly limits: AgentLimits;
  /** Which part of a run asks. For accounting. */
  readonly stage?: string;
  /** Which draw: runs with another index are independent. */
  readonly sampleIndex: number;
  readonly signal: AbortSignal;
  /** Told of each step when it comes. */
  readonly onStep?: ((step: AgentStep) => void) | undefined;
  /** Told before each call of its model passes, and when what one has used is known; only by a runner that `tellsSpending`. */
  readonly onSpend?: ((spending: AgentSpending) => void) | undefined;
  /** Whether a step is all that was waited for: the run then ends there, as one that is done. */
  readonly until?: ((step: AgentStep) => boolean) | undefined;
};

/** What a run has spent by now. */
export type AgentSpending = {
  readonly calls: number;
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

/** A skill that the agent's model was told of. */
export type OfferedSkill = {
  readonly name: string;
  /** How much of its description it was told: all, a beginning, or nothing but the name. Unknown where only names can be seen. */
  readonly description?: 'whole' | 'cut' | 'none';
};

/** Why a run ended. A limit that was reached is a result, not an outage, and so is an agent that ends its own program. */
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
  /** Its last words. */
  readonly text: string;
  readonly ended: AgentEnd;
  /** What the limit was, where one ended it. */
  readonly endReason?: string;
  /** Calls of its model. */
  readonly turns: number;
  readonly steps: readonly AgentStep[];
  readonly skillsOffered: readonly OfferedSkill[];
  /** Names of the skills that it loaded, each once. */
  readonly skillsLoaded: readonly string[];
  readonly usage: Usage;
  readonly costUsd?: number;
  /** Other models than its own that it asked for, and was refused: how often, by name. */
  readonly modelsRefused?: Readonly<Record<string, number>>;
};

/** What can be seen of an agent's work, and what can be limited. */
export type AgentCapabilities = {
  /** Whether there is an event that tells of loading a skill, or it is told by the files that the agent reads. */
  readonly seesLoading: 'event' | 'reads';
  readonly seesOffers: boolean;
  readonly limitsTurns: boolean;
};

/**
 * How an agent's model knows whose calls they are: by a key that stays outside of the sandbox; not at all, at an address of the
 * user's; by a file or a variable of the agent's own; perhaps by a keyring, which cannot be seen; or by nothing that was found.
 */
export type AgentSignIn = 'key' | 'address' | 'file' | 'variable' | 'unseen' | 'none';

/** Which program does the work, and where. */
export type AgentAbout = {
  readonly agent: string;
  /** `unknown` where the program does not say. */
  readonly version: string;
  readonly path: string;
  readonly model?: string;
  readonly sandbox: string;
  readonly signIn: AgentSignIn;
};

/** An agent with tools and a workspace: to environments for agents what a `ChatModel` is to those for chat. */
export interface AgentRunner {
  /** Agent, version, model, sandbox and all that changes what it does: rollouts are cached under it. */
  readonly id: string;
  /** Whose rate limit its calls count against, as of a `ChatModel`. */
  readonly account?: string;
  /** What prices are listed under. */
  readonly modelName?: string;
  readonly capabilities?: AgentCapabilities;
  /** Whether none of its model's calls passes before `onSpend` was told of it. */
  readonly tellsSpending?: boolean;
  /** Absent where it is no program of this machine. */
  readonly about?: AgentAbout;
  /** Throws `ModelCallError` when its model could not be reached, and the signal's reason when it is aborted. */
  run(request: AgentRunRequest): Promise<AgentRun>;
}

/** What one attempt of an agent may use up. */
export type AgentLimits = {
  readonly timeoutMs: number;
  readonly maxTurns?: number | undefined;
  readonly maxUsd?: number | undefined;
  readonly maxTokens?: number | undefined;
  /** Most processes at once, of all that it starts. */
  readonly processes?: number | undefined;
  readonly memoryMb?: number | undefined;
  /** Most that it may write into its workspace, its home and its temporary folder. */
  readonly diskMb?: number | undefined;
};

const positive = z.number().positive();
/** Timers know no longer times than weeks, and end at once for those. */
const A_DAY_MS = 86_400_000;

/** The same as files say it, of a target or of one task: each may be left out. */
export const AgentLimitsSpec = z
  .strictObject({
    timeoutMs: positive.int().max(A_DAY_MS),
    maxTurns: positive.int(),
    maxUsd: positive,
    maxTokens: positive.int(),
    processes: positive.int(),
    memoryMb: positive,
    diskMb: positive,
  } satisfies Record<keyof AgentLimits, z.ZodType<number>>)
  .partial();

/** A folder that a command may change, as it is laid out on disk. */
export type WorkspaceView = {
  /** The folder itself; for an overlay, an empty folder that it is mounted on. */
  readonly path: string;
  /** Changes are kept in `upper`, and `lower` stays as it is. `scratch` is the file system's own. */
  readonly overlay?: { readonly lower: string; readonly upper: string; readonly scratch: string };
  /** Another name that a command sees it under, where the sandbox can give names: some tasks speak of `/app`. */
  readonly alsoAt?: string;
};

export type FileChange = {
  /** From the workspace. */
  readonly path: string;
  readonly change: 'added' | 'changed' | 'deleted';
  /** What changed, line by line, where it is text and not too long. */
  readonly patch?: string;
  /** What stands in for a patch: a hash and a size, or why there is none. */
  readonly note?: string;
};

/** What became of a workspace, by path. */
export type WorkspaceDiff = {
  readonly changes: readonly FileChange[];
  /** Folders that were not looked into, and what was too much to show. */
  readonly leftOut: readonly string[];
};

/** A file or folder that a command sees under a name of its own, where the sandbox can give it one. */
export type Mount = { readonly from: string; readonly to: string; readonly isWritable?: boolean };

/** What all processes of a command may use together. */
export type ResourceLimits = {
  readonly processes?: number | undefined;
  readonly memoryMb?: number | undefined;
  /** Of what it writes where it may write. */
  readonly diskMb?: number | undefined;
};

/** A command that runs apart from everything else on the machine. */
export type SandboxRequest = {
  /** A program and its arguments. No shell reads them. */
  readonly command: readonly string[];
  /** Texts by relative path, laid into the folder that it runs in. */
  readonly files?: Readonly<Record<string, string>>;
  /** A folder of the caller's to run in, which it may change. Without one it gets a fresh one that is removed afterwards. */
  readonly cwd?: string;
  /** In place of `cwd`: a workspace, which it sees as `/workspace`, or at its own path where folders keep their names. */
  readonly workspace?: WorkspaceView;
  /** What it sees besides the system's programs. A home among them is named by `env.HOME`. */
  readonly mounts?: readonly Mount[];
  /** `none` unless it is said: not even that of this machine. */
  readonly network?: 'none' | 'open';
  readonly stdin?: string;
  /** All that its environment has, but for what is needed to find programs. Nothing of ours gets in. */
  readonly env?: Readonly<Record<string, string>>;
  /** Names of programs that do nothing but are noted when they are called. */
  readonly tools?: readonly string[];
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly limits?: ResourceLimits;
  /** Gets each line of its standard output when it comes. */
  readonly onLine?: ((line: string) => void) | undefined;
  /** Most of each output that is kept; what comes after it is read and forgotten. */
  readonly maxOutputBytes?: number;
};

/** Names with slashes between them, none of which leads elsewhere. */
export function isPlainPath(path: string): boolean {
  const isPlain = path.split('/').every((name) => /^[^\0\\]+$/.test(name) && name !== '.' && name !== '..');
  return isPlain && !/^[A-Za-z]:/.test(path);
}

export type SandboxResult = {
  /** `undefined` when a signal ended it. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly timedOut: boolean;
  /** The limit that ended it, if one did. */
  readonly exceeded?: keyof ResourceLimits | undefined;
  /** What it printed, cut at a limit. */
  readonly stdout: string;
  readonly stderr: string;
  /** Tools that it called, in order, each time. */
  readonly toolsCalled: readonly string[];
};

export interface Sandbox {
  /** Which one it is. */
  readonly id: string;
  /** Whether a command sees mounts and its workspace under names of their own; otherwise where they lie. */
  readonly hasOwnNames: boolean;
  /** Whether a workspace can be an overlay in it, whose folders lie below `root`: file systems differ. */
  readonly takesOverlays: (root?: string) => Promise<boolean>;
  /** Throws `SANDBOX_UNAVAILABLE` when nothing can run in it here, with what to do about that. */
  ready(): Promise<void>;
  /** Answers for whatever the command does, also when it fails. Throws when it could not be started, and the signal's reason. */
  run(request: SandboxRequest): Promise<SandboxResult>;
}
