import { useState } from 'react';
import type { NightListed, ProposalPage } from '../../core/page/index.ts';
import { count, plural } from '../../core/text/index.ts';
import { Diff } from '../parts/diff.tsx';
import { Answer, Section } from '../parts/frame.tsx';
import { Mark } from '../parts/mark.tsx';
import { SureButton } from '../parts/sure-button.tsx';
import { type Column, numbers, Table } from '../parts/table.tsx';
import { dateWords, priceOf } from '../parts/words.ts';
import { useAsked, useSource } from '../state.ts';

/** What nights have learned, and what they propose. */
export function NightsScreen() {
  const source = useSource();
  const asked = useAsked('nights', () => source.nights());
  return (
    <div className="stack">
      <h1>Nights</h1>
      <Answer of={asked} what="the nights">
        {({ project, nights, proposals }) => (
          <>
            {nights.length > 0 ? <Table columns={COLUMNS} rows={nights} /> : null}
            {nights.length + proposals.length === 0 ? (
              <p className="note">
                No night has run in this project. <code>npx skillopt sleep run</code> runs one.
              </p>
            ) : null}
            {proposals.map((proposal) => (
              <Proposal key={proposal.id} proposal={proposal} project={project} />
            ))}
            {proposals.length === 0 && nights.length > 0 ? <p className="note">Nothing is proposed.</p> : null}
          </>
        )}
      </Answer>
    </div>
  );
}

const COLUMNS: readonly Column<NightListed>[] = [
  { head: 'Night', cell: ({ night }) => night },
  { head: 'Result', cell: ({ head }) => head },
  { head: 'Ended', cell: ({ endedAt }) => dateWords(endedAt) },
  numbers('Sessions', ({ sessions }) => count(sessions)),
  numbers('Tasks', ({ tasks }) => count(tasks)),
  numbers('Calls', ({ cost }) => count(cost.calls)),
  { ...numbers('Price', ({ cost }) => priceOf(cost)), isMissing: ({ cost }) => !cost.isPriced },
];

function Proposal({ proposal, project }: { readonly proposal: ProposalPage; readonly project: string }) {
  const { night, document, path, status, before, after, evidence, marks } = proposal;
  const [isSeen, setSeen] = useState(false);
  return (
    <Section
      title={`Night ${night} proposes a change of ${document}`}
      aside={<span className="note">{plural(marks.length, 'line')} to look at</span>}
    >
      <p className="note">
        {path}, {STATUSES[status] ?? status}
      </p>
      <ul className="edit-list">
        {evidence.map((line) => (
          <li key={line}>{line}</li>
        ))}
        {marks.map(({ line, reasons, isStriking }) => (
          <li key={line} className={isStriking ? 'doubt' : 'note'}>
            {isStriking ? 'Look at this line: ' : ''}
            <code>{line}</code> {reasons.join(', ')}
          </li>
        ))}
      </ul>
      <Diff before={before} after={after} onSeen={() => setSeen(true)} />
      <Adoption proposal={proposal} project={project} isSeen={isSeen} />
    </Section>
  );
}

const STATUSES: Readonly<Record<string, string>> = { pending: 'waiting for you' };

type AdoptionProps = { readonly proposal: ProposalPage; readonly project: string; readonly isSeen: boolean };

/** Adopts exactly the text whose difference was read to its end: by its digest. */
function Adoption({ proposal, project, isSeen }: AdoptionProps) {
  const { adopt } = useSource();
  if (!adopt || proposal.status !== 'pending') return null;
  if (!isSeen) return <p className="note after-diff">Read the change to its end to adopt it.</p>;
  return (
    <p className="after-diff">
      <SureButton
        word="Adopt"
        question="Adopt what is shown above?"
        act={() => adopt(proposal, project)}
        done={<Mark kind="accepted" word="adopted" />}
      />
    </p>
  );
}
