/** A command that runs apart from everything else on the machine. */
export type SandboxRequest = {
  /** A program and its arguments. No shell reads them. */
  readonly command: readonly string[];
  /** Texts by relative path, laid into the folder that it runs in. */
  readonly files?: Readonly<Record<string, string>>;
  /** A folder of the caller's to run in, which it may change. Without one it gets a fresh one that is removed afterwards. */
  readonly cwd?: string;
  readonly stdin?: string;
  /** All that its environment has, but for what is needed to find programs. Nothing of ours gets in. */
  readonly env?: Readonly<Record<string, string>>;
  /** Names of programs that do nothing but are noted when they are called. */
  readonly tools?: readonly string[];
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
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
  /** What it printed, cut at a limit. */
  readonly stdout: string;
  readonly stderr: string;
  /** Tools that it called, in order, each time. */
  readonly toolsCalled: readonly string[];
};

export interface Sandbox {
  /** Which one it is. */
  readonly id: string;
  /** Throws `SANDBOX_UNAVAILABLE` when nothing can run in it here, with what to do about that. */
  ready(): Promise<void>;
  /** Answers for whatever the command does, also when it fails. Throws when it could not be started, and the signal's reason. */
  run(request: SandboxRequest): Promise<SandboxResult>;
}
