import type { ReactNode } from 'react';
import type { StepPage } from '../../core/page/index.ts';
import type { TriedEdit } from '../../core/run/index.ts';
import { plural } from '../../core/text/index.ts';
import { runAddress } from '../address.ts';
import { Mark, type MarkKind } from '../parts/mark.tsx';
import { editLine, opWord, statusWords } from '../parts/words.ts';

type StageProps = {
  readonly title: string;
  readonly time: string;
  /** `null` when it is not there, or was not kept. */
  readonly what: string | null;
  readonly children?: ReactNode;
};

export function StageColumn({ title, time, what, children }: StageProps) {
  return (
    <div className="stage">
      <h3>{title}</h3>
      <p className={what === null ? 'note missing' : 'note'}>
        {what === null ? 'not there' : [what, time].filter(Boolean).join(', ')}
      </p>
      {children}
    </div>
  );
}

const SHOWN = 8;

export function EditList({ edits }: { readonly edits: readonly TriedEdit[] }) {
  return (
    <ul className="edit-list">
      {edits.slice(0, SHOWN).map((edit, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: edits keep their places
        <li key={index}>
          <span className="op">{opWord(edit.op)}</span> {editLine(edit)}
        </li>
      ))}
      {edits.length > SHOWN ? <li className="note">and {plural(edits.length - SHOWN, 'more edit')}</li> : null}
    </ul>
  );
}

export const Proposals = ({ patches }: { readonly patches: NonNullable<StepPage['patches']> }) =>
  patches.map(({ patch, sourceType, batchSize }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: proposals keep their places
    <div key={index}>
      <p className="note">from {plural(batchSize, `${sourceType === 'failure' ? 'failed' : 'passed'} task`)}</p>
      <EditList edits={patch.edits} />
    </div>
  ));

export const Chosen = ({ step: { ranked, repeats, refused } }: { readonly step: StepPage }) => (
  <>
    <EditList edits={ranked?.edits ?? []} />
    {repeats.length > 0 ? <p className="note">{plural(repeats.length, 'repeat')} left out</p> : null}
    {refused.map(({ reason }) => (
      <p key={reason} className="bad">
        refused: {reason}
      </p>
    ))}
  </>
);

export const Applied = ({ report }: { readonly report: NonNullable<StepPage['report']> }) => (
  <ul className="edit-list">
    {report.map(({ index, op, target, contentPreview, status, error }) => (
      <li key={index}>
        <span className="op">{opWord(op)}</span> {editLine({ content: contentPreview, target })}{' '}
        <span className="note">{[statusWords(status, op), error].filter(Boolean).join(': ')}</span>
      </li>
    ))}
  </ul>
);

type LinksProps = { readonly run: string; readonly kind: MarkKind; readonly tasks: readonly string[] };

export function TaskLinks({ run, kind, tasks }: LinksProps) {
  if (tasks.length === 0) return null;
  return (
    <p className="task-links">
      <Mark kind={kind} />
      {tasks.slice(0, 2 * SHOWN).map((task) => (
        <a key={task} href={runAddress(run, ['attempts'], { task })}>
          {task}
        </a>
      ))}
      {tasks.length > 2 * SHOWN ? (
        <span className="note">and {plural(tasks.length - 2 * SHOWN, 'more task')}</span>
      ) : null}
    </p>
  );
}
