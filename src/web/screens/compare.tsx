import type { ComparePage } from '../../core/page/index.ts';
import { count, percent, plural } from '../../core/text/index.ts';
import { runAddress } from '../address.ts';
import { Diff } from '../parts/diff.tsx';
import { Answer, Section } from '../parts/frame.tsx';
import { IntervalBar } from '../parts/interval.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { asSentence, priceOf } from '../parts/words.ts';
import { useAddress, useAsked, useSource } from '../state.ts';
import { TaskLinks } from './step-parts.tsx';

/** Two runs on the same tasks. */
export function CompareScreen() {
  const source = useSource();
  const { a = '', b = '', split = '' } = useAddress().query;
  const asked = useAsked(`compare ${a} ${b} ${split}`, () => source.compare(a, b, split));
  return (
    <div className="stack">
      <Answer of={asked} what={`${a} and ${b}`}>
        {(page) => <Compared page={page} />}
      </Answer>
    </div>
  );
}

function Compared({ page }: { readonly page: ComparePage }) {
  const { a, b, head, sentence, gain, gained, lost, notes, split, tasks } = page;
  return (
    <>
      <section className="verdict" aria-label="Which is better?">
        <div className="verdict-words">
          <h1>{head}</h1>
          <p className="sentence">{asSentence(sentence, [a, b])}</p>
          <p className="note">
            From <a href={runAddress(a)}>{a}</a> to <a href={runAddress(b)}>{b}</a>, on {plural(tasks, `${split} task`)}
          </p>
          {notes.map((note) => (
            <p key={note} className="note">
              {asSentence(note, [a, b])}
            </p>
          ))}
        </div>
        {gain ? <IntervalBar gain={gain} /> : null}
      </section>
      <Section title="Which tasks differ?">
        <TaskLinks run={b} kind="gained" tasks={gained} />
        <TaskLinks run={b} kind="lost" tasks={lost} />
        {gained.length + lost.length === 0 ? (
          <p className="note">No task passes with one and fails with the other.</p>
        ) : null}
      </Section>
      <Section title="What else differs?">
        <DifferenceTable page={page} />
      </Section>
      <Section title="From one skill to the other">
        <Diff {...page.texts} />
      </Section>
    </>
  );
}

function DifferenceTable({ page: { a, b, before, after, costs, settings } }: { readonly page: ComparePage }) {
  const rows: [string, string, string][] = [
    ['score', percent(before), percent(after)],
    ['calls', count(costs[0].calls), count(costs[1].calls)],
    ['price', priceOf(costs[0]), priceOf(costs[1])],
    ...settings.map(({ name, ...values }): [string, string, string] => [name, values.a, values.b]),
  ];
  const columns: Column<(typeof rows)[number]>[] = [
    { head: 'What', cell: ([what]) => what },
    { head: a, cell: ([, one]) => one },
    { head: b, cell: ([, , other]) => other },
  ];
  return <Table className="differences" columns={columns} rows={rows} />;
}
