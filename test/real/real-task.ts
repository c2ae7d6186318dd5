import { applyEdit } from 'skillopt';
import { classifyEnv, LABELS } from '../../examples/classify/classify-env.ts';
import { proposeExamples } from '../../examples/classify/proposals.ts';
import { getModel } from './get-model.ts';
import { localChat } from './local-chat.ts';

const file = await getModel();

/** Why there is no model on this machine. */
export const whyMissing = file.missing;

export const chat = localChat({
  modelPath: file.missing === undefined ? file.path : '',
  choices: LABELS,
  temperature: 0.7,
});

const [trainItems, valItems, testItems] = await Promise.all(
  ['train', 'val', 'test'].map((split) => classifyEnv.getItems(split)),
);
export const [train, val, test] = [trainItems!, valItems!, testItems!];

/** One example per label: a skill to start from that no gate has chosen, so that no other figure moves this one. */
export const steady = applyEdit('', proposeExamples(train, 0).editFor(''));
