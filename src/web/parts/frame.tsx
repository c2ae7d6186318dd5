import { Component, type ReactNode, useId } from 'react';
import type { Problem } from '../../core/page/index.ts';
import { problemOf } from '../source.ts';
import { type Asked, useAddress } from '../state.ts';
import { asSentence } from './words.ts';

type SectionProps = {
  readonly title: string;
  readonly className?: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
};

export function Section({ title, className = '', aside, children }: SectionProps) {
  const id = useId();
  return (
    <section className={className} aria-labelledby={id}>
      <header className="section-head">
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

export const Loading = ({ what }: { readonly what: string }) => (
  <p className="note" role="status">
    Loading {what} …
  </p>
);

export function Trouble({ message, hint }: Problem) {
  const { path, query } = useAddress();
  const names = [...path, ...Object.values(query)];
  return (
    <div className="trouble" role="alert">
      <p>{asSentence(message, names)}</p>
      {hint ? <p className="note">{asSentence(hint, names)}</p> : null}
    </div>
  );
}

type AnswerProps<Value> = {
  readonly of: Asked<Value>;
  readonly what: string;
  readonly children: (answer: Value) => ReactNode;
};

/** Never blank: says what is loading, or what is wrong above what the same question was answered before. */
export function Answer<Value>({ of: { answer, problem }, what, children }: AnswerProps<Value>) {
  return (
    <>
      {problem ? <Trouble {...problem} /> : null}
      {answer !== undefined ? children(answer) : problem ? null : <Loading what={what} />}
    </>
  );
}

type BoundaryProps = { readonly at: string; readonly children: ReactNode };

/** A fault in one screen leaves the others alone. */
export class Boundary extends Component<BoundaryProps, { problem: Problem | null; at: string }> {
  override state = { problem: null as Problem | null, at: this.props.at };

  static getDerivedStateFromError = (error: unknown) => ({ problem: problemOf(error) });

  static getDerivedStateFromProps = (props: BoundaryProps, state: { at: string }) =>
    props.at === state.at ? null : { at: props.at, problem: null };

  override render() {
    const { problem } = this.state;
    if (!problem) return this.props.children;
    return (
      <Trouble
        message={`This screen cannot show what it got: ${problem.message}`}
        hint="The other screens still work. The files of the run are as they were."
      />
    );
  }
}

type FactsProps = { readonly className: string; readonly rows: readonly (readonly [what: string, value: string])[] };

/** Names and their values. */
export const Facts = ({ className, rows }: FactsProps) => (
  <dl className={className}>
    {rows.map(([what, value]) => (
      <div key={what}>
        <dt>{what}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
