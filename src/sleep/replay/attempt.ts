import type { ChatMessage } from '../../core/contracts/index.ts';
import { rstrip } from '../../core/text/index.ts';
import type { TaskRecord } from '../task-record.ts';

/** The texts that an agent has read before it works. */
export type Documents = { readonly skill: string; readonly memory: string };

/** Raised whenever the wording below changes, so that no older rollout is reused. */
export const ATTEMPT_VERSION = 2;

const ATTEMPT = `You are a coding agent at work for a person. What they wrote down for you, and what you have learned with them, stands
below; follow it. Do the task and answer with the result alone. Where you would call a tool, write a line
"tool_call: NAME" and continue as if it had worked.`;

/** What the target reads. A task with a system prompt of its own keeps it, word for word, before the documents. */
export function attemptMessages(task: TaskRecord, { skill, memory }: Documents, prompt = ATTEMPT): ChatMessage[] {
  const lead = task.system === '' ? prompt : task.system;
  const documents = [section('Skill', skill), section('Memory', memory)].filter((text) => text !== '');
  return [
    { role: 'system', content: [rstrip(lead), ...documents].join('\n\n') },
    { role: 'user', content: taskText(task) },
  ];
}

const section = (title: string, text: string) => (text.trim() === '' ? '' : `# ${title}\n\n${rstrip(text)}`);

/** What was asked, with what came before it. Never what came after. */
export const taskText = ({ intent, contextExcerpt }: Pick<TaskRecord, 'intent' | 'contextExcerpt'>) =>
  contextExcerpt === '' ? intent : `${intent}\n\nWhat was said before:\n${contextExcerpt}`;
