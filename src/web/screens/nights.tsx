import { useState } from 'react';
import type { NightListed, Problem, ProposalPage } from '../../core/page/index.ts';
import { count, plural } from '../../core/text/index.ts';
import { Diff } from '../parts/diff.tsx';
import { Answer, Section, Trouble } from '../parts/frame.tsx';
import { dateWords, priceOf } from '../parts/words.ts';
import { problemOf } from '../source.ts';
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
            {nights.length === 0 ? (
              <p className="note">
                No night has run in this project. <code>npx skillopt sleep</code> runs one.
              </p>
            ) : (
              <Nights nights={nights} />
            )}
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

const Nights = ({ nights }: { readonly nights: readonly NightListed[] }) => (
  <div className="wide">
    <table>
      <thead>
        <tr>
          <th scope="col">Night</th>
          <th scope="col">Result</th>
          <th scope="col">Ended</th>
          <th scope="col" className="number">
            Sessions
          </th>
          <th scope="col" className="number">
            Tasks
          </th>
          <th scope="col" className="number">
            Calls
          </th>
          <th scope="col" className="number">
            Price
          </th>
        </tr>
      </thead>
      <tbody>
        {nights.map(({ name, night, head, endedAt, sessions, tasks, cost }) => (
          <tr key={name}>
            <th scope="row">{night}</th>
            <td>{head}</td>
            <td>{dateWords(endedAt)}</td>
            <td className="number">{count(sessions)}</td>
            <td className="number">{count(tasks)}</td>
            <td className="number">{count(cost.calls)}</td>
            <td className={`number ${cost.isPriced ? '' : 'missing'}`}>{priceOf(cost)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

function Proposal({ proposal, project }: { readonly proposal: ProposalPage; readonly project: string }) {
  const { night, document, path, status, before, after, evidence, marks } = proposal;
  return (
    <Section
      title={`Night ${night} proposes a change of ${document}`}
      aside={<AdoptButton proposal={proposal} project={project} />}
    >
      <p className="note">
        {path}, {status}
      </p>
      <ul className="edit-list">
        {evidence.map((line) => (
          <li key={line}>{line}</li>
        ))}
        {marks.map(({ line, reasons, isStriking }) => (
          <li key={line} className={isStriking ? 'doubt' : 'note'}>
            {isStriking ? 'Look at this line: ' : ''}
            <code>{line}</code> {reasons.join(' ')}
          </li>
        ))}
      </ul>
      <Diff before={before} after={after} />
    </Section>
  );
}

/** Adopts exactly the text whose difference is shown: by its digest. */
function AdoptButton({ proposal, project }: { readonly proposal: ProposalPage; readonly project: string }) {
  const { adopt } = useSource();
  const [state, setState] = useState<'ready' | 'asked' | 'done' | Problem>('ready');
  if (typeof state === 'object') return <Trouble {...state} />;
  if (state === 'done') return <span className="good">adopted</span>;
  if (!adopt || proposal.status !== 'staged')
    return <span className="note">{plural(proposal.marks.length, 'line')} to look at</span>;
  const send = () =>
    adopt(proposal, project).then(
      () => setState('done'),
      (error) => setState(problemOf(error)),
    );
  return (
    <button type="button" onClick={() => (state === 'asked' ? send() : setState('asked'))}>
      {state === 'asked' ? 'Adopt what is shown below?' : 'Adopt'}
    </button>
  );
}
