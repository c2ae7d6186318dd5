import type { RunFigures, RunPage } from '../../core/page/index.ts';
import { mayHaveBeenWords } from '../../core/run/index.ts';
import { count, dollars, percent } from '../../core/text/index.ts';
import { Section } from '../parts/frame.tsx';
import { priceOf, seconds } from '../parts/words.ts';

/** What was paid, by purpose. */
export function CostTable({ figures: { cost } }: { readonly figures: RunFigures }) {
  return (
    <table className="cost">
      <thead>
        <tr>
          <th scope="col">For</th>
          <th scope="col" className="number">
            Calls
          </th>
          <th scope="col" className="number">
            Tokens
          </th>
          <th scope="col" className="number">
            Price
          </th>
        </tr>
      </thead>
      <tbody>
        {[...cost.rows, { what: 'in all', ...cost.total }].map((row) => (
          <tr key={row.what} className={row.what === 'in all' ? 'total' : ''}>
            <th scope="row">{row.what}</th>
            <td className="number">{count(row.calls)}</td>
            <td className="number">{count(row.tokens)}</td>
            <td className={`number ${row.isPriced || row.costUsd > 0 ? '' : 'missing'}`}>{priceOf(row)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function CostScreen({ page: { figures } }: { readonly page: RunPage }) {
  const { cost } = figures;
  return (
    <div className="stack">
      <Section title="What it cost, by purpose">
        <CostTable figures={figures} />
        {mayHaveBeenWords(cost.total).map((words) => (
          <p key={words} className="note">
            {words}
          </p>
        ))}
      </Section>
      <LimitsPanel figures={figures} />
      <StagesPanel figures={figures} />
    </div>
  );
}

const LIMITS: Readonly<Record<string, string>> = {
  maxCalls: 'calls',
  maxTotalTokens: 'tokens',
  maxCostUsd: 'dollars',
  maxMinutes: 'minutes',
  maxRollouts: 'rollouts',
};

function spentOf({ cost: { total }, summary }: RunFigures, limit: string): number | undefined {
  const spent: Readonly<Record<string, number>> = {
    maxCalls: total.calls,
    maxTotalTokens: total.tokens,
    maxCostUsd: total.costUsd,
    maxMinutes: summary.totalWallTimeS / 60,
  };
  return spent[limit];
}

function LimitsPanel({ figures }: { readonly figures: RunFigures }) {
  const limits = Object.entries(figures.about.limits);
  return (
    <Section title="Its limits">
      {limits.length === 0 ? <p className="note">This run has no limit of calls, tokens, dollars or minutes.</p> : null}
      {limits.map(([limit, most]) => {
        const spent = spentOf(figures, limit);
        const shown = limit === 'maxCostUsd' ? dollars : (value: number) => count(Math.round(value));
        return (
          <p key={limit} className="progress">
            <span className="what">{LIMITS[limit] ?? limit}</span>
            {spent === undefined ? null : (
              <progress value={Math.min(spent, most)} max={most} aria-label={`Used ${LIMITS[limit] ?? limit}`} />
            )}
            <span className="number">
              {spent === undefined
                ? `at most ${shown(most)}`
                : `${shown(spent)} of ${shown(most)}, ${percent(spent / most)}`}
            </span>
          </p>
        );
      })}
    </Section>
  );
}

function StagesPanel({ figures: { summary } }: { readonly figures: RunFigures }) {
  return (
    <Section title="By stage">
      <div className="wide">
        <table>
          <thead>
            <tr>
              <th scope="col">Stage</th>
              {[
                'Replies',
                'From the cache',
                'Retries',
                'Waited',
                'Input tokens',
                'Cached input',
                'Output tokens',
                'Price',
              ].map((what) => (
                <th key={what} scope="col" className="number">
                  {what}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Object.entries(summary.tokenSummary).map(([stage, usage]) => (
              <tr key={stage}>
                <th scope="row">{stage}</th>
                <td className="number">{count(usage.replies)}</td>
                <td className="number">{count(usage.cacheHits)}</td>
                <td className="number">{count(usage.retries)}</td>
                <td className="number">{seconds(usage.waitMs)}</td>
                <td className="number">{count(usage.input)}</td>
                <td className="number">{count(usage.cached)}</td>
                <td className="number">{count(usage.output)}</td>
                <td className="number">{priceOf({ costUsd: usage.costUsd, isPriced: usage.unpriced === 0 })}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
