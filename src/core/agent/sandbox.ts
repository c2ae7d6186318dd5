import type { WorkspaceView } from './workspace.ts';

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
