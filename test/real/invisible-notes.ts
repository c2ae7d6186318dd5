import { type ChatModel, Edit } from 'skillopt';
import type { Proposal } from '../../examples/classify/proposals.ts';

const NOTE = /\n*\(Revision (\d+)\)/;

/** Edits that change the text and nothing else, for a model that does not see them. */
export const invisibleNotes = (count: number): Proposal[] =>
  Array.from({ length: count }, (_, index) => {
    const note = `(Revision ${index + 1})`;
    return { name: note, intent: 'useless', editFor: (skill) => writeNote(skill, note) };
  });

function writeNote(skill: string, note: string): Edit {
  const [, number] = NOTE.exec(skill) ?? [];
  return number === undefined
    ? Edit.parse({ op: 'append', content: note })
    : Edit.parse({ op: 'replace', target: `(Revision ${number})`, content: note });
}

/** More than a run draws of one message. */
const DRAWS_APART = 10_000;

/** The same model with such notes taken out before it reads. Every revision has draws of its own all the same. */
export function blindToNotes(chat: ChatModel): ChatModel {
  return {
    ...chat,
    id: `${chat.id} blind to notes`,
    complete({ messages, sampleIndex = 0, ...request }) {
      const number = Number(messages.map(({ content }) => NOTE.exec(content)?.[1]).find(Boolean) ?? 0);
      const read = messages.map(({ role, content }) => ({ role, content: content.replace(NOTE, '') }));
      return chat.complete({ ...request, messages: read, sampleIndex: sampleIndex + number * DRAWS_APART });
    },
  };
}
