import type {
  AgentCapabilities,
  AgentEnd,
  AgentLimits,
  AgentStep,
  FinishReason,
  Usage,
} from '../core/contracts/index.ts';

/** One agent CLI: how to get it and sign in, how it is asked as a chat model, and how it works with tools. */
export type AgentCli<Name extends string = string> = CliProgram<Name> & CliAsChat & CliWithTools;

/** Variables of a process. `undefined` takes one away that would be inherited. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A program as it is run, and the path under which it was found. */
export type Located = { readonly path: string; readonly foundAt: string };

/** The person whose settings and sign-in a CLI uses. */
export type CliUser = {
  /** What the CLI would see if the person started it. */
  readonly env: Environment;
  readonly userHome: string;
};

type CliProgram<Name extends string> = {
  /** As a target with tools: `target: { agent: claude }`. */
  readonly name: Name;
  /** As a chat model: `target: claude-cli:MODEL`. */
  readonly cli: `${Name}-cli`;
  /** For people. */
  readonly title: string;
  readonly binary: string;
  readonly installCommand: string;
  readonly signInCommand: string;
  /** Whether its user chooses whose models it asks. Otherwise it asks those of its maker. */
  readonly hasManyProviders?: boolean;
  /** Names of the caller's variables that are this CLI's settings and keys; a star at the end stands for any rest. */
  variables(caller: { readonly env: Environment; readonly model: string | undefined }): readonly string[];
  /** Files that exist where the user has signed in. Absent where no file shows that. */
  signInFiles?(user: CliUser): readonly string[];
  /** Where it reads what people write for it. Observed by running it; absent where that was not possible. */
  readonly documents?: CliDocuments;
};

export type CliDocuments = {
  /** Its own folder: in the user's home, or where a variable says. */
  readonly home: { readonly variable: string; readonly folder: string };
  /** Folders of skills below its own folder, the one for new skills first. */
  readonly ownSkills: readonly string[];
  /** Folders of skills below the user's home that several agents read. */
  readonly sharedSkills: readonly string[];
  /** Folders of skills below a project. */
  readonly projectSkills: readonly string[];
  /** Files of a project that it puts into every prompt, the usual one first. */
  readonly instructions: readonly string[];
  /** Files that it reads where there are none of those. */
  readonly otherInstructions?: readonly string[];
};

export type AgentCall = CliUser & {
  readonly model: string | undefined;
  /** Empty when the request has no system message. */
  readonly system: string;
  readonly conversation: string;
  /** A private folder of this call. The CLI runs in the empty folder `work` in it. */
  readonly folder: string;
};

export type Invocation = {
  readonly args: readonly string[];
  readonly input: string;
  readonly env?: Environment;
  /** Texts to write, by path in the call's folder. */
  readonly files?: Readonly<Record<string, string>>;
  /** The user's credential files that the CLI may read and renew, by path in the call's folder. */
  readonly links?: Readonly<Record<string, string>>;
  /** Where in the call's folder the CLI keeps its logs, when they say more than what it prints. */
  readonly logs?: string;
};

export type AgentOutput = { readonly stdout: string; readonly stderr: string };

/** A CLI's own words about a call that failed. */
export type AgentRefusal = { readonly failure: string; readonly status?: number | undefined };

/** What a CLI's output says. Its exit code says less: some fail with 0. */
export type AgentAnswer =
  | { readonly text: string; readonly usage: Usage; readonly finishReason?: FinishReason }
  | AgentRefusal;

/** A CLI as a chat model: one process per call, without tools. */
type CliAsChat = {
  invoke(call: AgentCall): Invocation;
  /** `undefined` when the output holds neither an answer nor a failure. */
  read(output: AgentOutput): AgentAnswer | undefined;
  /**
   * The refusal in a line that a CLI prints or logs when it is about to try again. The CLI is then ended: retrying is ours, and
   * some CLIs retry silently for minutes. Not needed where a setting turns retries off.
   */
  refusalIn?(line: string): AgentRefusal | undefined;
};

/** What a CLI reports of its work, in order. */
export type AgentEvent =
  | AgentStep
  | { readonly type: 'skill-offered'; readonly name: string }
  /** All that was used so far, or what one more call used. */
  | { readonly type: 'usage'; readonly usage: Usage; readonly costUsd?: number | undefined; readonly isTotal: boolean }
  | { readonly type: 'end'; readonly ended: AgentEnd; readonly text?: string | undefined }
  | { readonly type: 'failure'; readonly refusal: AgentRefusal };

/** Reads one line that a CLI prints. Remembers what earlier lines said. */
export type EventReader = (line: string) => readonly AgentEvent[];

/** One piece of work for a CLI. Paths are as the CLI sees them. */
export type AgentJob = {
  readonly prompt: string;
  readonly model: string | undefined;
  readonly home: string;
  readonly workspace: string;
  /** The address of our gateway to its model. Without one the CLI asks its provider with the user's sign-in. */
  readonly modelUrl: string | undefined;
  /** Whether our sandbox keeps it from the rest of the machine; otherwise its own sandbox stays on, if it has one. */
  readonly isSandboxed: boolean;
  readonly limits: AgentLimits;
};

/** How a CLI is started for a piece of work. */
export type Launch = {
  readonly args: readonly string[];
  readonly env?: Environment;
  /** Texts to write, by path in its home. */
  readonly files?: Readonly<Record<string, string>>;
};

/** Whom a CLI asks for its model by default, and the key that it would use. */
export type Provider = {
  readonly baseURL: string;
  readonly key: string | undefined;
  /** How the key is sent. */
  readonly auth: 'bearer' | 'x-api-key' | 'x-goog-api-key';
};

/** A CLI at work: with tools, in a workspace, with skills where it looks for them. */
type CliWithTools = {
  /** Where skills are installed for it: below its home, and below the workspace. */
  readonly skillFolders: { readonly user: string; readonly project: string };
  readonly capabilities: AgentCapabilities;
  /** Programs that it needs and does not bring along. */
  readonly needs?: readonly string[];
  /** Files and folders by which a repository makes it run programs, where no setting turns that off. They are hidden from it. */
  readonly hidden?: readonly string[];
  /** The longest description that its model sees in full, where there is such a limit. */
  readonly longestDescription?: number;
  /** Whether it drops a skill whose description is longer. Otherwise it cuts the description. */
  readonly dropsLonger?: boolean;
  /** Variables that `provider` takes a key from. */
  readonly keyVariables: readonly string[];
  /** By the caller's variables. Without a key there may be a sign-in. */
  provider(env: Environment, model: string | undefined): Provider;
  /** The user's sign-in files, by path in the CLI's home. */
  signIn(user: CliUser): Readonly<Record<string, string>>;
  /** Systems on which the sign-in may be in a keyring, where we cannot see it. */
  readonly keyrings?: readonly NodeJS.Platform[];
  launch(job: AgentJob): Launch;
  /** For a run in which skills of these names are installed. */
  reader(skills: readonly string[]): EventReader;
};
