import { type ReactNode, useState } from 'react';
import type { Problem } from '../../core/page/index.ts';
import { problemOf } from '../source.ts';
import { Trouble } from './frame.tsx';

type SureProps = {
  readonly word: string;
  /** Asked after the first click; the second one acts. */
  readonly question: string;
  readonly act: () => Promise<void>;
  readonly done: ReactNode;
};

/** Acts on the second click, and says what came of it. */
export function SureButton({ word, question, act, done }: SureProps) {
  const [state, setState] = useState<'ready' | 'asked' | 'sent' | 'done' | Problem>('ready');
  if (typeof state === 'object') return <Trouble {...state} />;
  if (state === 'done') return done;
  const send = () => {
    setState('sent');
    act().then(
      () => setState('done'),
      (error) => setState(problemOf(error)),
    );
  };
  return (
    <button type="button" disabled={state === 'sent'} onClick={() => (state === 'asked' ? send() : setState('asked'))}>
      {state === 'ready' ? word : question}
    </button>
  );
}
