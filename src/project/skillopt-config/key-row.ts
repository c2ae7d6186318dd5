export const SECTIONS = ['model', 'train', 'gradient', 'optimizer', 'evaluation', 'env'] as const;
export type Section = (typeof SECTIONS)[number];

export type Role = 'optimizer' | 'target';

/** How SkillOpt names the ways to a model. */
export type Backend =
  | 'openai_chat'
  | 'openai_compatible'
  | 'qwen_chat'
  | 'minimax_chat'
  | 'claude_chat'
  | 'copilot_chat'
  | 'codex_exec'
  | 'claude_code_exec'
  | 'cursor_exec'
  | 'copilot_exec';

/** One key of a SkillOpt config, and what becomes of it. */
export type KeyRow = {
  readonly section: Section;
  readonly key: string;
  /** Its name in a file without sections. */
  readonly flat: string;
  /**
   * `mapped`: sets `to`. `replaced`: `to` does that job here and must be set by itself. `refused`: an error.
   * `ignored`: has no effect. What is replaced or ignored is named in the warning.
   */
  readonly does: 'mapped' | 'replaced' | 'refused' | 'ignored';
  /** Our key, or keys. `target.baseURL` is a part of a model, `extras.limit` a value for the environment. */
  readonly to?: string;
  readonly why?: string;
  /** The key speaks to these alone. While no role uses them it has no effect in SkillOpt either. */
  readonly backends?: readonly Backend[];
  /** The key speaks to this role alone. */
  readonly role?: Role;
  /** The key speaks to environments other than qa. */
  readonly isOfOthers?: boolean;
  /** Values at which nothing is lost. A blank one never is. */
  readonly harmless?: readonly unknown[];
  /** For a secret: the environment variable that holds it instead. */
  readonly variable?: string;
  /** Our word for each of theirs. Without it values pass as they are. */
  readonly values?: Readonly<Record<string, string>>;
};

/** A key that was written and left empty says nothing. */
export const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
