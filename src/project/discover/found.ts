import type { AgentCliName } from '../../agents/index.ts';
import type { PeekedTasks } from '../../envs/index.ts';

/** A folder with a SKILL.md. Paths are from the folder that was looked at. */
export type FoundSkill = {
  /** The folder, or `SKILL.md` for the one that was looked at. */
  readonly path: string;
  /** As its frontmatter says, else as the folder is called. */
  readonly name: string;
  /** What is wrong with its frontmatter, with file and line. */
  readonly problem?: string;
};

/** A file that cannot be used, with the reason. */
export type LeftOut = { readonly path: string; readonly why: string };

export type FoundTasks = PeekedTasks & { readonly path: string };

/** A module that may be an environment. It was looked at, not run. */
export type FoundEnv = { readonly path: string; readonly asksTarget: boolean; readonly asksJudge: boolean };

/** A variable that holds a key, by its name alone. */
export type FoundKey = {
  readonly provider: KeyProvider;
  readonly variable: string;
  readonly place: 'environment' | '.env';
};
export type KeyProvider = 'openai' | 'anthropic' | 'google' | 'azure' | 'minimax';

/** A server that speaks Chat Completions. */
export type FoundServer = {
  /** Ollama, LM Studio … by its port, or what the variable is called that names it. */
  readonly name: string;
  /** With `/v1` at its end. */
  readonly url: string;
  /** The variable that names its address, if one does. */
  readonly variable?: string | undefined;
  /** The variable whose key belongs to that address. */
  readonly apiKeyEnv?: string | undefined;
  /** The models that it lists; empty where it was not asked or did not say. */
  readonly models: readonly string[];
};

/** An agent CLI on PATH. `undefined`: only running it would tell. */
export type FoundAgent = { readonly cli: AgentCliName; readonly isSignedIn: boolean | undefined };

export type FoundModels = {
  readonly keys: readonly FoundKey[];
  readonly servers: readonly FoundServer[];
  readonly agents: readonly FoundAgent[];
};

/** What lies in the folder itself. */
export type FolderFiles = {
  readonly skills: readonly FoundSkill[];
  readonly tasks: readonly FoundTasks[];
  readonly envs: readonly FoundEnv[];
  /** Config files of SkillOpt. */
  readonly skillOptConfigs: readonly string[];
  /** Files that are called as skills are, and cannot be read. */
  readonly brokenSkills: readonly LeftOut[];
  readonly leftOut: readonly LeftOut[];
  /** What a person should know of the search. */
  readonly notes: readonly string[];
};

export type FolderFindings = FolderFiles & { readonly directory: string; readonly models: FoundModels };

/** Whether there is anything to make a project of. Keys alone are not. */
export const isEmpty = ({ skills, tasks, envs, skillOptConfigs }: FolderFiles): boolean =>
  skills.length + tasks.length + envs.length + skillOptConfigs.length === 0;
