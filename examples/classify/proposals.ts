import { Edit } from 'skillopt';
import { LABELS, type Message } from './classify-env.ts';

/** `useless` is meant to change nothing, `harmful` to confuse. What an edit really does, only the model can say. */
type Intent = 'useful' | 'useless' | 'harmful';

export type Proposal = {
  readonly name: string;
  readonly intent: Intent;
  /** An optimizer reads the skill before it edits it. */
  editFor(skill: string): Edit;
};

/** What a scripted optimizer proposes, in order. Examples come from the training split and from nowhere else. */
export function scriptedProposals(train: readonly Message[]): Proposal[] {
  const useful = (turn: number) => proposeExamples(train, turn);
  const harmful = (turn: number) => proposeWrongLabel(train, turn);
  const useless = (index: number) => proposeRemark(REMARKS[index]!);
  const early = [useless(0), harmful(5), useful(0), useless(1), useful(1), harmful(6)];
  const middle = [useless(2), useful(2), useful(3), harmful(7), useless(3), useful(4)];
  return [...early, ...middle, ...[8, 9, 10, 11, 12, 13, 14, 15].map(useful)];
}

/** One example per label. A label without an example loses to those that have one. */
export function proposeExamples(train: readonly Message[], turn: number): Proposal {
  const content = exampleOfEach(train, turn).map(writeExample).join('\n\n');
  return { name: `examples ${turn + 1}`, intent: 'useful', editFor: () => Edit.parse({ op: 'append', content }) };
}

function proposeWrongLabel(train: readonly Message[], turn: number): Proposal {
  const wrong = LABELS[turn % LABELS.length]!;
  const victims = exampleOfEach(train, turn).filter(({ label }) => label !== wrong);
  const content = victims.map((message) => writeExample({ ...message, label: wrong })).join('\n\n');
  return { name: `all is ${wrong}`, intent: 'harmful', editFor: () => Edit.parse({ op: 'append', content }) };
}

/** A remark goes to the top, where it does not part the examples from the question. */
export function proposeRemark(remark: string): Proposal {
  const editFor = (skill: string) =>
    skill.includes(EXAMPLE)
      ? Edit.parse({ op: 'replace', target: EXAMPLE, content: `${remark}\n\n${EXAMPLE}` })
      : Edit.parse({ op: 'append', content: remark });
  return { name: remark, intent: 'useless', editFor };
}

const EXAMPLE = 'Message:';

function writeExample({ text, label }: Message): string {
  return `${EXAMPLE} ${text}\nLabel: ${label}`;
}

function exampleOfEach(train: readonly Message[], turn: number): Message[] {
  return LABELS.map((label) => train.filter((message) => message.label === label)[turn]!);
}

/** Neither about labels nor about messages. */
export const REMARKS: readonly string[] = [
  'The shop opened in spring.',
  'Our office has green chairs.',
  'Work with care.',
  'This document is read every day.',
  'The team has eleven members.',
  'Some messages are short.',
  'Water boils at one hundred degrees.',
  'Tea is served at four.',
  'There are seven days in a week.',
  'The sky was clear this morning.',
];
