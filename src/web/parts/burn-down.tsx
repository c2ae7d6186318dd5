import { percent, plural } from '../../core/text/index.ts';
import { type Budget, standingOf } from './budget.ts';
import { Mark } from './mark.tsx';

const [WIDTH, HEIGHT] = [300, 64];
/** A longer course is thinned: a pixel shows one point. */
const MOST_POINTS = 300;

/** What is left of a limit, step by step, as a line that falls to 0, and in words. */
export function BurnDown({ budget, isRunning }: { readonly budget: Budget; readonly isRunning: boolean }) {
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
