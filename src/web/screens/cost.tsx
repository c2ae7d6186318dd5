import type { CurvePoint, RunFigures, RunPage } from '../../core/page/index.ts';
import { mayHaveBeenWords } from '../../core/run/index.ts';
import { count, dollars, percent, plural } from '../../core/text/index.ts';
import { Section } from '../parts/frame.tsx';
import { Mark } from '../parts/mark.tsx';
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

const [WIDTH, HEIGHT] = [300, 64];
/** A longer course is thinned: a pixel shows one point. */
const MOST_POINTS = 300;

/** What is left of a limit, step by step, as a line that falls to 0, and in words. */
function BurnDown({ budget, isRunning }: { readonly budget: Budget; readonly isRunning: boolean }) {
  const { what, most, spent, course, lasts, amount } = budget;
  if (spent === null)
    return (
      <div className="budget">
        <p>
          At most {amount(most)} {what}. The run does not say how many it has used.
        </p>
      </div>
    );
  const standing = standingOf(budget);
  const words = `${amount(spent)} of ${amount(most)} ${what === 'dollars' ? '' : `${what} `}used, ${percent(spent / most)}`;
  return (
    <div className="budget">
      <p className="budget-head">
        <b>{what}</b>
        <Mark kind={standing} />
      </p>
      {course.length > 0 ? (
        <Course course={course} most={most} label={`What was left of the ${what}: ${words}`} />
      ) : null}
      {course.length > 0 ? null : <progress value={Math.min(spent, most)} max={most} aria-label={`Used ${what}`} />}
      <p className="note">
        {words}. {standing === 'used' ? 'Nothing is left.' : `${amount(most - spent)} left.`}
        {isRunning && lasts !== null ? ` At this pace it lasts for about ${plural(lasts, 'more step')}.` : ''}
      </p>
    </div>
  );
}

type CourseProps = { readonly course: readonly number[]; readonly most: number; readonly label: string };

function Course({ course, most, label }: CourseProps) {
  const every = Math.ceil(course.length / MOST_POINTS);
  const shown = course.filter((_, index) => index % every === 0 || index === course.length - 1);
  const x = (index: number) => ((index / (shown.length - 1)) * WIDTH).toFixed(1);
  const y = (left: number) => (2 + (1 - left / most) * (HEIGHT - 4)).toFixed(1);
  const line = shown.map((left, index) => `${x(index)} ${y(left)}`).join('L');
  return (
    <>
      <svg
        className="course"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        <path className="area" d={`M${line}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z`} />
        <path className="line" d={`M${line}`} />
        <path className="empty" d={`M0 ${HEIGHT - 1}H${WIDTH}`} />
      </svg>
      <p className="course-ends note" aria-hidden="true">
        <span>start</span>
        <span>{plural(course.length - 2, 'step')}</span>
      </p>
    </>
  );
}

/** A limit of a run, and how it was used up. */
type Budget = {
  readonly what: string;
  readonly most: number;
  /** `null` where a run does not say it. */
  readonly spent: number | null;
  /** What was left at the start, after each step, and now; none where only the sum is known. */
  readonly course: readonly number[];
  /** For about how many steps more it lasts at the pace so far; `null` when that is not known. */
  readonly lasts: number | null;
  readonly amount: (value: number) => string;
};

type Kind = {
  readonly what: string;
  readonly spent?: (figures: RunFigures) => number;
  readonly after?: (point: CurvePoint) => number;
  readonly amount?: Budget['amount'];
};

const KINDS: Readonly<Record<string, Kind>> = {
  maxCalls: { what: 'calls', spent: ({ cost }) => cost.total.calls, after: ({ calls }) => calls },
  maxTotalTokens: { what: 'tokens', spent: ({ cost }) => cost.total.tokens, after: ({ tokens }) => tokens },
  maxCostUsd: {
    what: 'dollars',
    spent: ({ cost }) => cost.total.costUsd,
    after: ({ costUsd }) => costUsd,
    amount: (value) => `$${dollars(value)}`,
  },
  maxMinutes: { what: 'minutes', spent: ({ summary }) => summary.totalWallTimeS / 60, amount: minutes },
  maxRollouts: { what: 'rollouts' },
};

/** A short run takes less than a minute. */
function minutes(value: number): string {
  return value < 10 ? value.toFixed(1).replace(/\.0$/, '') : count(Math.round(value));
}

export function budgetsOf(figures: RunFigures): Budget[] {
  return Object.entries(figures.about.limits).map(([limit, most]) => {
    const {
      what,
      spent,
      after,
      amount = (value: number) => count(Math.round(value)),
    } = KINDS[limit] ?? { what: limit };
    const used = spent?.(figures) ?? null;
    const course =
      after && used !== null ? [0, ...figures.curve.map(after), used].map((at) => Math.max(0, most - at)) : [];
    return { what, most, spent: used, course, lasts: lastsFor(figures.curve, most - (used ?? 0), after), amount };
  });
}

/** By the steps alone: the first skill is measured once. */
function lastsFor(curve: readonly CurvePoint[], left: number, after: Kind['after']): number | null {
  const [first, last] = [curve[0], curve.at(-1)];
  if (!after || !first || !last || first === last) return null;
  const pace = (after(last) - after(first)) / (curve.length - 1);
  return pace > 0 && left > 0 ? Math.floor(left / pace) : null;
}

const NEARLY = 0.9;

/** Whether it holds, in a word. */
export function standingOf({ spent, most }: Pick<Budget, 'spent' | 'most'>): 'within' | 'nearly' | 'used' {
  if (spent !== null && spent >= most) return 'used';
  return spent !== null && spent >= NEARLY * most ? 'nearly' : 'within';
}
