import { ownCopy } from '../kept-text.ts';

/** What an agent puts around or into a user's message, with everything in it. */
const NOTICE_TAGS = [
  ...['system-reminder', 'system_reminder', 'environment_context', 'environment_details', 'user_instructions'],
  ...['codex_internal_context', 'turn_aborted', 'user_shell_command', 'permissions instructions'],
  ...[
    'local-command-stdout',
    'local-command-stderr',
    'local-command-caveat',
    'bash-input',
    'bash-stdout',
    'bash-stderr',
  ],
  ...['ide_opened_file', 'ide_selection', 'ide_diagnostics', 'task-notification', 'user-prompt-submit-hook'],
  ...['session_context', 'attached_files', 'reminderInstructions'],
];

/** How messages begin that nobody typed. */
const NOTICE_STARTS = [
  '[Pasted text', // a marker, its text is elsewhere
  'Caveat:',
  '# /',
  '[Request interrupted by user',
  'This session is being continued from a previous conversation',
  'The conversation history before this point was compacted',
  'Another language model started to solve this problem',
  'Your task is to create a detailed summary of the conversation',
  'First, reason in your scratchpad. Then, generate the <state_snapshot>',
  'Base directory for this skill:',
  '[SYSTEM NOTIFICATION',
  'Stop hook feedback:',
];

const COMMAND_TAG = /<command-(?:message|name)>/;
const COMMAND_TAG_WITHIN = 200;

/** What a person asked for, without what agents add to it. Empty: nobody asked for anything. */
export function promptOf(text: string): string {
  const prompt = (text.includes('<') ? NOTICE_TAGS.reduce(withoutTag, text) : text).trim();
  return isMeta(prompt) ? '' : prompt;
}

/** Commands, notices, pasted markers: not what a person wants done. */
export function isMeta(text: string): boolean {
  const prompt = text.trim();
  if (prompt === '' || (prompt.startsWith('<') && prompt.endsWith('>'))) return true;
  if (prompt.startsWith('/') && prompt.slice(0, 1_000).split(/\s+/).length <= 3) return true;
  return (
    NOTICE_STARTS.some((start) => prompt.startsWith(start)) || COMMAND_TAG.test(prompt.slice(0, COMMAND_TAG_WITHIN))
  );
}

/** Everything from an opening tag to the next closing one, as often as it occurs. One that is never closed is a person's. */
function withoutTag(text: string, tag: string): string {
  const kept: string[] = [];
  let from = 0;
  for (;;) {
    const opening = openingOf(text, tag, from);
    const closing = opening === -1 ? -1 : text.indexOf(`</${tag}>`, opening);
    if (closing === -1) return from === 0 ? text : ownCopy([...kept, text.slice(from)].join(''));
    kept.push(text.slice(from, opening));
    from = closing + tag.length + 3;
  }
}

/** Each place is looked at once, also where tags of similar names are many. */
function openingOf(text: string, tag: string, from: number): number {
  const opening = `<${tag}`;
  let at = text.indexOf(opening, from);
  while (at !== -1 && !' >'.includes(text.charAt(at + opening.length))) at = text.indexOf(opening, at + 1);
  return at;
}
