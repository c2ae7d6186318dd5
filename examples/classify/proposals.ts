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
  const next = { useful: 0, useless: 0, harmful: FIRST_HARMFUL };
  const propose: Record<Intent, () => Proposal> = {
    useful: () => proposeExamples(train, next.useful++),
    useless: () => proposeRemark(REMARKS[next.useless++]!),
    harmful: () => proposeWrongLabels(train, next.harmful++),
  };
  return [...ROUNDS, ...ROUNDS].flat().map((intent) => propose[intent]());
}

/** Two rounds of eight proposals, which come twice: all sixteen blocks of examples, all ten remarks, six wrong labels. */
const ROUNDS: readonly (readonly Intent[])[] = [
  ['useless', 'harmful', 'useful', 'useful', 'useless', 'useful', 'useless', 'useful'],
  ['useless', 'harmful', 'useful', 'useful', 'useless', 'useful', 'harmful', 'useful'],
];

/** So that wrong labels start with other messages than the right ones do. */
const FIRST_HARMFUL = 5;

/** One example per label. A label without an example loses to those that have one. */
export function proposeExamples(train: readonly Message[], turn: number): Proposal {
  const content = exampleOfEach(train, turn).map(writeExample).join('\n\n');
  return { name: `examples ${turn + 1}`, intent: 'useful', editFor: () => Edit.parse({ op: 'append', content }) };
}

/** Several messages, all under one label: right for none of them. */
export function proposeWrongLabels(train: readonly Message[], turn: number): Proposal {
  const wrong = LABELS[turn % LABELS.length]!;
  const victims = exampleOfEach(train, turn).filter(({ label }) => label !== wrong);
  const content = victims.map((message) => writeExample({ ...message, label: wrong })).join('\n\n');
  return { name: `all is ${wrong}`, intent: 'harmful', editFor: () => Edit.parse({ op: 'append', content }) };
}

/** A remark goes to the top, where it does not part the examples from the question, and takes the place of an older one. */
export function proposeRemark(remark: string): Proposal {
  return { name: remark, intent: 'useless', editFor: (skill) => writeAtTop(skill, remark) };
}

function writeAtTop(skill: string, remark: string): Edit {
  const old = REMARKS.find((each) => skill.includes(each));
  if (old !== undefined) return Edit.parse({ op: 'replace', target: old, content: remark });
  if (!skill.includes(EXAMPLE)) return Edit.parse({ op: 'append', content: remark });
  return Edit.parse({ op: 'replace', target: EXAMPLE, content: `${remark}\n\n${EXAMPLE}` });
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
