import type { TaskRecord } from '../task-record.ts';

/** Tools that change or read files, or run something: an answer in words alone cannot do what they did. */
const HANDS_ON =
  /(?:^|[+_.-])(?:bash|shell|exec(?:_command|ute)?|terminal|powershell|write(?:_file)?|edit(?:_file)?|multiedit|notebookedit|apply_?patch|patch|create_file|str_replace\w*|run_\w+|task)(?:$|[+_.-])/i;

/** Set by a miner that saw that a task cannot be done without files. */
export const NEEDS_FILES_TAG = 'needs:files';

/**
 * Whether a task can be attempted in words. One that a model wrote makes sense by itself unless it says otherwise; one that
 * is a session's first prompt, word for word, needs what the session had.
 */
export function isReplayable({ tags, referenceKind }: TaskRecord): boolean {
  if (tags.includes(NEEDS_FILES_TAG)) return false;
  return referenceKind !== 'none' || !toolsIn(tags).some((names) => HANDS_ON.test(names));
}

const TOOLS_TAG = 'tools:';

/** Names of tools that the session used, joined by `+`. */
const toolsIn = (tags: readonly string[]) =>
  tags.filter((tag) => tag.startsWith(TOOLS_TAG)).map((tag) => tag.slice(TOOLS_TAG.length));
