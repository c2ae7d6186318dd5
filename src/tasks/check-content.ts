import type { TaskJudge } from '../core/judge/index.ts';
import { groupBy, plural } from '../core/text/index.ts';
import { asksModel, type FileColumns } from '../envs/index.ts';
import type { LeftOut } from '../imports/index.ts';
import { type Finding, finding, levelOf } from './finding.ts';
import type { CheckedTask } from './load-for-check.ts';

/** What did not come out of the file as it stands there. */
export function checkReading(tasks: readonly CheckedTask[], told: readonly LeftOut[]): Finding[] {
  const places = new Set(told.filter(({ kind }) => kind === 'task').map(({ where }) => where));
  const isLost = ({ where }: LeftOut) => places.has(where) || places.has(where.split('.files')[0]!);
  const isEncoding = ({ kind, what }: LeftOut) => kind === 'read' && /^(?:utf|windows)-/i.test(what);
  const named = (of: (one: LeftOut) => boolean) =>
    told.filter(of).map(({ where, what, why }) => `${where}: ${what} (${why})`);
  const isWeaker = (one: LeftOut) => one.kind === 'check' && !isLost(one);
  const isOtherwise = (one: LeftOut) => one.kind === 'read' && !isEncoding(one) && !isLost(one);
  const isGone = (one: LeftOut) =>
    one.kind === undefined || one.kind === 'task' || (one.kind === 'check' && isLost(one));
  const weaker = new Set(told.filter(isWeaker).map(({ where }) => where)).size;
  const gone = named(isGone);
  return [
    ...finding('encoding', named(isEncoding), {
      what: 'read in another encoding than UTF-8',
      todo: 'Look at a few tasks. If letters are wrong, save the file as UTF-8.',
    }),
    ...finding('left-out', gone, {
      what: `${gone.length} left out of the file, and ${plural(tasks.length, 'task')} left`,
      todo: 'Nothing, if you can do without.',
    }),
    ...finding('weaker', named(isWeaker), {
      what: `${plural(weaker, 'task is', 'tasks are')} weaker than written: they lost a check or a text`,
      todo: 'Write these checks in another way, or expect higher scores than there.',
    }),
    ...finding('read-otherwise', named(isOtherwise), {
      what: 'read in a way of our own',
      todo: 'Compare a few scores with those of the other tool.',
    }),
  ];
}

type ContentOptions = { readonly columns: FileColumns | undefined; readonly hasJudge: boolean };

/** What shows in the texts of tasks, in the order of the file. */
export function checkContent(tasks: readonly CheckedTask[], { columns, hasJudge }: ContentOptions): Finding[] {
  return [
    ...garbled(tasks),
    ...notAnswers(tasks),
    ...cannotPass(tasks),
    ...unfilled(tasks, columns),
    ...unreadColumns(tasks, columns),
    ...sameAnswers(tasks),
    ...answersInQuestions(tasks),
    ...pipes(tasks),
    ...notJudged(tasks, hasJudge),
  ];
}

const idsOf = (tasks: readonly CheckedTask[]) => tasks.map(({ id }) => id);

/** A byte of UTF-8 that continues a character, as Windows-1252 shows it. */
const TRAIL = '[\\u0080-\\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]';
const GARBLED = new RegExp(`\\p{L}\\ufffd|\\ufffd\\p{L}|[ÂÃÐÑ]${TRAIL}|â${TRAIL}{2}`, 'u');
/** A question may be about such text, and then quotes it. */
const QUOTED = /"[^"]*"|'[^']*'|`[^`]*`|“[^“”]*”|„[^„“”]*[“”]/gu;

function garbled(tasks: readonly CheckedTask[]): Finding[] {
  const found = tasks.filter(
    ({ question, answers }) => GARBLED.test(question.replace(QUOTED, '')) || answers.some((one) => GARBLED.test(one)),
  );
  return finding('garbled', idsOf(found), {
    what: `${plural(found.length, 'task has', 'tasks have')} letters that were lost in a wrong encoding`,
    todo: 'Export the file again, as UTF-8.',
    level: levelOf(found.length, tasks.length),
  });
}

const NO_ANSWER = /^(?:#(?:N\/A|REF!|VALUE!|DIV\/0!|NAME\?|NULL!|NUM!)|todo\b.*|tbd|tba|fixme\b.*|xxx+|\?+)$/i;

function notAnswers(tasks: readonly CheckedTask[]): Finding[] {
  const found = tasks.filter(({ answers }) => answers.some((answer) => NO_ANSWER.test(answer.trim())));
  const texts = new Set(found.flatMap(({ answers }) => answers.filter((answer) => NO_ANSWER.test(answer.trim()))));
  return finding('not-an-answer', idsOf(found), {
    what: `${plural(found.length, 'task expects', 'tasks expect')} what is no answer: ${[...texts].slice(0, 3).join(', ')}`,
    todo: 'Write their answers, or leave them out.',
    level: found.length > tasks.length / 2 ? 'untrue' : 'warning',
  });
}

type Checks = Extract<TaskJudge, { kind: 'checks' }>['checks'];

/** A text that must be there, and must not. */
function isImpossible(checks: Checks): boolean {
  const texts = (isWanted: boolean) =>
    checks.flatMap((check) => {
      const isOne = check.type === 'contains' || check.type === 'icontains';
      return isOne && check.weight !== 0 && (check.not ?? false) !== isWanted ? [check] : [];
    });
  return texts(true).some(({ value }) =>
    texts(false).some(({ type, value: other }) =>
      type === 'icontains' ? value.toLowerCase().includes(other.toLowerCase()) : value.includes(other),
    ),
  );
}

function cannotPass(tasks: readonly CheckedTask[]): Finding[] {
  const found = tasks.filter(
    ({ judge }) => judge?.kind === 'checks' && judge.threshold === undefined && isImpossible(judge.checks),
  );
  return finding('cannot-pass', idsOf(found), {
    what: `${plural(found.length, 'task')} no answer can pass: a text must be in it, and must not`,
    todo: 'Correct their checks.',
    level: levelOf(found.length, tasks.length),
  });
}

/** Questions that are all made from one template, whose text never came. */
function unfilled(tasks: readonly CheckedTask[], columns: FileColumns | undefined): Finding[] {
  const places = tasks.flatMap(({ id, question }) => {
    const names = [...question.matchAll(/\{\{?\s*([A-Za-z_]\w*)\s*\}?\}/g)].map(([, name]) => name!);
    return [...new Set(names)].map((name) => ({ id, name }));
  });
  return groupBy(places, ({ name }) => name).flatMap((group) => {
    const { name } = group[0]!;
    const isMeant = group.length > tasks.length / 2 || Object.hasOwn(columns?.unread ?? {}, name);
    return finding('unfilled', isMeant ? group.map(({ id }) => id) : [], {
      what: `${group.length} of ${plural(tasks.length, 'question')} still have the placeholder {${name}}: the model would be asked about nothing`,
      todo: 'Put the text in its place, or into a column called context.',
      level: levelOf(group.length, tasks.length),
    });
  });
}

const A_FILE = /\.(?:png|jpe?g|gif|webp|bmp|tiff?|svg|pdf|docx?|xlsx?|pptx?|mp3|wav|mp4)$/i;

function unreadColumns(tasks: readonly CheckedTask[], columns: FileColumns | undefined): Finding[] {
  if (columns === undefined) return [];
  const files = Object.entries(columns.unread).filter(([, value]) => A_FILE.test(value.trim()));
  const ids = (names: readonly unknown[]) => (names.length === 0 ? [] : idsOf(tasks));
  return [
    ...finding('unread-column', ids(files), {
      what: `the column ${files.map(([name]) => name).join(', ')} names files that no model sees`,
      todo: 'If the questions are about them, use an agent: env: workspace.',
    }),
    ...finding('unread-column', ids(columns.blank), {
      what: `the column ${columns.blank.join(', ')} is empty in every row`,
      todo: 'Fill it, or take it out of the file.',
    }),
  ];
}

/** Fewer may agree by chance. */
const LEAST = 10;

function sameAnswers(tasks: readonly CheckedTask[]): Finding[] {
  if (tasks.length < LEAST || tasks.some(({ onlyRight }) => onlyRight?.length !== 1)) return [];
  const answers = tasks.map(({ onlyRight }) => onlyRight![0]!);
  const isOne = new Set(answers).size === 1;
  const isNumbered = answers.every((answer, index) => answer === String(Number(answers[0]) + index));
  return [
    ...finding('one-answer', isOne ? idsOf(tasks) : [], {
      what: `every task expects the same answer, ${JSON.stringify(tasks[0]!.answers[0])}: a skill that always says it is perfect`,
      todo: 'Add tasks with other answers.',
    }),
    ...finding('numbered', isNumbered ? idsOf(tasks) : [], {
      what: 'the answers are the numbers of the rows',
      todo: 'Name the column that holds the answers: columns: { answers: NAME }',
      level: 'untrue',
    }),
  ];
}

/** Of two options, every second question ends with the right one. */
const MOST_BY_CHANCE = 0.8;

function answersInQuestions(tasks: readonly CheckedTask[]): Finding[] {
  const found = tasks.filter(({ question, onlyRight }) => {
    const end = question.replace(/(?<![\s)\]}.!?"'»”])[\s)\]}.!?"'»”]+$/u, '').toLowerCase();
    return onlyRight?.some((answer) => answer !== '' && end.endsWith(answer)) ?? false;
  });
  const isGiven = tasks.length >= LEAST && found.length > MOST_BY_CHANCE * tasks.length;
  return finding('answer-in-question', isGiven ? idsOf(found) : [], {
    what: `${found.length} of ${plural(tasks.length, 'question')} end with their own answer: a model only has to copy it`,
    todo: 'Take the answers out of the questions.',
  });
}

/** In a table, a stroke separates answers; in a shell it joins commands. */
function pipes(tasks: readonly CheckedTask[]): Finding[] {
  const found = tasks.filter(
    ({ answers, judge }) => !judge && answers.length > 1 && answers.some((answer) => /\s-{1,2}[A-Za-z]/.test(answer)),
  );
  return finding('pipes', found.length > tasks.length / 5 ? idsOf(found) : [], {
    what: `${plural(found.length, 'task has', 'tasks have')} several answers that look like parts of one command`,
    todo: 'A | separates answers. Write such an answer as a list: ["ls | wc -l"].',
  });
}

function notJudged(tasks: readonly CheckedTask[], hasJudge: boolean): Finding[] {
  const found = hasJudge ? [] : tasks.filter(asksModel);
  return finding('not-judged', idsOf(found), {
    what: `${plural(found.length, 'task needs', 'tasks need')} a model that judges, and none is named`,
    todo: 'Name one: judge: PROVIDER:MODEL. Or leave them out.',
    level: levelOf(found.length, tasks.length),
  });
}
