import type { RunFigures, RunPage } from '../../core/page/index.ts';
import { mayHaveBeenWords } from '../../core/run/index.ts';
import { count } from '../../core/text/index.ts';
import { budgetsOf } from '../parts/budget.ts';
import { BurnDown } from '../parts/burn-down.tsx';
import { Section } from '../parts/frame.tsx';
import { type Column, numbers, Table } from '../parts/table.tsx';
import { priceOf, seconds } from '../parts/words.ts';

type CostRow = RunFigures['cost']['rows'][number];

const ALL = 'in all';
const COST_COLUMNS: readonly Column<CostRow>[] = [
  { head: 'For', cell: ({ what }) => what },
  numbers('Calls', ({ calls }) => count(calls)),
  numbers('Tokens', ({ tokens }) => count(tokens)),
  { ...numbers('Price', priceOf), isMissing: ({ isPriced, costUsd }) => !isPriced && costUsd === 0 },
];

/** What was paid, by purpose. */
export const CostTable = ({ figures: { cost } }: { readonly figures: RunFigures }) => (
  <Table
    className="cost"
    columns={COST_COLUMNS}
    rows={[...cost.rows, { ...cost.total, what: ALL }]}
    rowClass={({ what }) => (what === ALL ? 'total' : '')}
  />
);

export function CostScreen({ page: { figures, isRunning } }: { readonly page: RunPage }) {
  const budgets = budgetsOf(figures);
  return (
    <div className="stack">
      <div className="beside">
        <Section title="What did it cost?">
          <CostTable figures={figures} />
          {mayHaveBeenWords(figures.cost.total).map((words) => (
            <p key={words} className="note">
              {words}
            </p>
          ))}
        </Section>
        <Section title="How much of its limits is left?">
          {budgets.length === 0 ? (
            <p className="note">This run has no limit of calls, tokens, dollars or minutes.</p>
          ) : null}
          <div className="budgets">
            {budgets.map((budget) => (
              <BurnDown key={budget.what} budget={budget} isRunning={isRunning} />
            ))}
          </div>
        </Section>
      </div>
      <Section title="By stage">
        <Table columns={STAGE_COLUMNS} rows={Object.entries(figures.summary.tokenSummary)} />
      </Section>
    </div>
  );
}

type StageRow = readonly [stage: string, usage: RunFigures['summary']['tokenSummary'][string]];

const STAGE_COLUMNS: readonly Column<StageRow>[] = [
  { head: 'Stage', cell: ([stage]) => stage },
  numbers('Replies', ([, { replies }]) => count(replies)),
  numbers('From the cache', ([, { cacheHits }]) => count(cacheHits)),
  numbers('Retries', ([, { retries }]) => count(retries)),
  numbers('Waited', ([, { waitMs }]) => seconds(waitMs)),
  numbers('Input tokens', ([, { input }]) => count(input)),
  numbers('Cached input', ([, { cached }]) => count(cached)),
  numbers('Output tokens', ([, { output }]) => count(output)),
  numbers('Price', ([, { costUsd, unpriced }]) => priceOf({ costUsd, isPriced: unpriced === 0 })),
];
