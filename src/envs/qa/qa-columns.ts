import { basename } from 'node:path';
import { z } from 'zod';
import { TaskJudge, type TaskJudgeInput } from '../../core/judge/index.ts';
import { defined, isObject, memoize, parseJson, textOf } from '../../core/text/index.ts';
import { isFilled, itemId, type Row, tasksInvalid } from '../../imports/index.ts';

/** The fields of a task, and other names for them, the likelier first. Case, spaces, `_` and `-` do not count. */
const ALIASES = {
  id: [],
  question: ['prompt', 'instruction', 'input', 'query', 'task'],
  answers: ['answer', 'expected', 'expected_output', 'output', 'reference', 'target'],
  taskType: ['type', 'category', 'kind', 'topic'],
  context: [],
  judge: [],
  split: [],
} as const satisfies Record<string, readonly string[]>;

type Field = keyof typeof ALIASES;
const FIELDS = Object.keys(ALIASES) as readonly Field[];

/** The file's columns by our names for them, where nobody would guess them. */
export const Columns = z.partialRecord(z.enum(FIELDS as [Field, ...Field[]]), z.string().min(1));
export type Columns = z.output<typeof Columns>;

/** A row under our names, with the file's own for messages. */
export type NamedRow = Row<unknown> & { readonly columns?: Readonly<Partial<Record<string, string>>> };

const normalise = memoize((name: string) => name.toLowerCase().replace(/[\s_-]/g, ''), { maxEntries: 10_000 });

/** Every row under our names. What no field is taken from is left where it is: in the file. */
export function nameColumns(rows: readonly Row[], columns: Columns = {}): NamedRow[] {
  requireColumns(rows, columns);
  const planFor = rememberingPlan(columns);
  return rows.map((row) => (isObject(row.value) ? nameRow(row, row.value, planFor(Object.keys(row.value))) : row));
}

export type Fields = Readonly<Record<string, unknown>>;
function nameRow(row: Row, value: Fields, { candidates, second }: Plan): NamedRow {
  const used: Partial<Record<Field, string>> = {};
  const named: Partial<Record<Field, unknown>> = {};
  for (const field of FIELDS) {
    const column = choose(field, candidates[field], value);
    if (column === undefined) continue;
    used[field] = column;
    named[field] = takeValue(field, column, value);
  }
  // Beside an `instruction`, the `input` is what it is about.
  if (second !== undefined && used.context === undefined && normalise(used.question ?? '') === 'instruction') {
    used.context = second;
    named.context = value[second];
  }
  const { split } = named;
  const kept = defined({ twin: row.twin, split: isBlank(split) ? undefined : textOf(split) });
  return { where: row.where, value: named, columns: used, ...kept };
}

type Candidates = { readonly own: readonly string[]; readonly others: readonly string[] };
type Plan = { readonly candidates: Readonly<Record<Field, Candidates>>; readonly second: string | undefined };

/** Which columns each field may be taken from. Rows of a table all have the same, so that the last plan mostly fits. */
function rememberingPlan(columns: Columns): (keys: readonly string[]) => Plan {
  let [known, plan]: [readonly string[], Plan] = [[], planColumns([], columns)];
  return (keys) => {
    const isSame = known.length === keys.length && known.every((key, index) => key === keys[index]);
    if (!isSame) [known, plan] = [keys, planColumns(keys, columns)];
    return plan;
  };
}

function planColumns(keys: readonly string[], columns: Columns): Plan {
  const called = (name: string) => keys.filter((key) => normalise(key) === normalise(name));
  const entries = FIELDS.map((field): [Field, Candidates] => {
    const named = columns[field];
    if (named !== undefined) return [field, { own: keys.includes(named) ? [named] : [], others: [] }];
    const own = [...keys.filter((key) => key === field), ...called(field)];
    return [field, { own, others: ALIASES[field].flatMap(called) }];
  });
  return { candidates: Object.fromEntries(entries) as Plan['candidates'], second: called('input')[0] };
}

/** Our own name before others, and a column that says something before one that is blank. */
function choose(field: Field, { own, others }: Candidates, value: Fields): string | undefined {
  const found =
    own.find((column) => !isBlank(value[column])) ?? others.find((column) => isUsable(field, value[column]));
  if (found !== undefined) return found;
  const isNeeded = field === 'question' || field === 'answers';
  return own[0] ?? (isNeeded ? others[0] : undefined); // what an error can show
}

export const isBlank = (value: unknown) => value == null || (typeof value === 'string' && !isFilled(value));

/** Under a name that is not ours, only what can be meant: a `type` that is a number is no kind of task. */
function isUsable(field: Field, value: unknown): boolean {
  if (isBlank(value)) return false;
  return typeof value === 'string' || (field === 'answers' && (typeof value === 'number' || Array.isArray(value)));
}

/** A text under another name than ours is one answer, whatever it begins with. A cell may hold a judge as JSON. */
function takeValue(field: Field, column: string, fields: Fields): unknown {
  const value = fields[column];
  const isOne = field === 'answers' && typeof value === 'string' && normalise(column) !== 'answers';
  if (isOne) return isFilled(value) ? [value] : value;
  if (field !== 'judge' || typeof value !== 'string') return value;
  if (!isFilled(value)) return undefined;
  const judge = parseJson(value);
  return judge === undefined ? value : judge;
}

function requireColumns(rows: readonly Row[], columns: Columns): void {
  if (Object.keys(columns).length === 0) return;
  const known = new Set(rows.flatMap(({ value }) => (isObject(value) ? Object.keys(value) : [])));
  const missing = Object.entries(columns).filter(([, column]) => !known.has(column));
  if (missing.length === 0) return;
  const problems = missing.map(([field, column]) => `columns.${field}: no row has ${JSON.stringify(column)}`);
  throw tasksInvalid(problems, `There is ${[...known].slice(0, 20).join(', ')}.`);
}

/** Names that are only guesses, the likelier first. */
const NAMES = {
  question:
    'frage pregunta domanda pergunta vraag вопрос 问题 質問 problem request utterance userinput user message text q',
  answers:
    'antwort antworten respuesta reponse réponse risposta resposta antwoord ответ 答案 回答 groundtruth gold goldanswer ' +
    'correctanswer correct solution ideal completion response label result a',
} as const;
type Guessed = keyof typeof NAMES;

/** In a file of this name, two columns of text are questions and answers. */
const TASK_FILE = /task|question|eval|test|qa|case|example|prompt|dataset|frage|benchmark/i;

/** Which columns could be questions and answers, where they have none of the usual names. Empty if none could. */
export function guessColumns(rows: readonly Row[], path: string): Columns {
  const names = textColumns(rows);
  const known: Columns = nameColumns(rows)[0]?.columns ?? {};
  const byName = (field: Guessed) => known[field] ?? findNamed(names, NAMES[field].split(' '));
  const [question, answers] = [byName('question'), byName('answers')];
  const rest = names.filter((name) => name !== question && name !== answers);
  const guess = byShape({ question, answers }, rest, rows, path);
  const added = Object.entries(guess).filter(([field, name]) => name !== undefined && known[field as Guessed] !== name);
  return Object.fromEntries(added) as Columns;
}

type Pair = { readonly question: string | undefined; readonly answers: string | undefined };

/** One of them known: the only other text is the other. None: of two texts the longer one asks. */
function byShape({ question, answers }: Pair, rest: readonly string[], rows: readonly Row[], path: string): Pair {
  if (question !== undefined && answers !== undefined) return { question, answers };
  if (question !== undefined && rest.length === 1) return { question, answers: rest[0] };
  if (answers !== undefined && rest.length === 1) return { question: rest[0], answers };
  const isLikely = question === undefined && answers === undefined && rest.length === 2;
  if (!isLikely || !TASK_FILE.test(basename(path))) return { question: undefined, answers: undefined };
  const [longer, shorter] = [...rest].sort((one, other) => lengthOf(rows, other) - lengthOf(rows, one));
  return { question: longer, answers: shorter };
}

/** Columns that hold text or a number in most rows, and more than one value. */
function textColumns(rows: readonly Row[]): string[] {
  const [first] = rows;
  if (first === undefined || !isObject(first.value)) return [];
  return Object.keys(first.value).filter((name) => {
    const values = valuesOf(rows, name);
    return !/^(id|index|no|nr|#)?$/i.test(name) && values.length > rows.length / 2 && new Set(values).size > 1;
  });
}

const valuesOf = (rows: readonly Row[], name: string): string[] =>
  rows.flatMap(({ value }) => {
    const cell = isObject(value) ? value[name] : undefined;
    return (typeof cell === 'string' && cell.trim() !== '') || typeof cell === 'number' ? [String(cell)] : [];
  });

const lengthOf = (rows: readonly Row[], name: string) => valuesOf(rows, name).join('').length;

const findNamed = (names: readonly string[], wanted: readonly string[]) =>
  wanted.flatMap((word) => names.filter((name) => normalise(name) === word))[0];

const FILLED = 'must be non-empty text';
const TOO_LONG = 'must stand in quotes: a number keeps its first 15 digits';
const FILLED_LIST = 'must be a non-empty list';

const filled = z.string(FILLED).refine(isFilled, FILLED);
/** A number is what a CSV file would have as text. */
const exact = z.number().refine((value) => Math.abs(value) <= Number.MAX_SAFE_INTEGER, TOO_LONG);
const gold = z.union([filled, exact.transform(String)], FILLED);
/** One answer need not stand in a list. Text that begins as a list is one that was not written well. */
const toList = (value: unknown) =>
  typeof value === 'number' || (typeof value === 'string' && isFilled(value) && !value.startsWith('['))
    ? [value]
    : value;
// A blank cell or a null says as little as a missing key.
const optionalText = z
  .string('must be text')
  .nullish()
  .transform((value) => (value == null || !isFilled(value) ? undefined : value));

const QaFields = z
  .object(
    {
      id: itemId,
      question: filled,
      answers: z.preprocess(
        toList,
        z
          .array(gold, FILLED_LIST)
          .refine((list) => list.length > 0, FILLED_LIST)
          .readonly()
          .nullish(),
      ),
      answer: gold.nullish(),
      judge: TaskJudge.nullish(),
      context: optionalText,
      taskType: optionalText,
      task_type: optionalText,
    },
    'must be an object',
  )
  .transform(({ id, question, context, answers, answer, judge, task_type, taskType = task_type }, check) => {
    const golds = answers ?? (answer == null ? [] : [answer]);
    if (golds.length === 0 && !judge) check.addIssue({ code: 'custom', path: ['answers'], message: FILLED_LIST });
    return { id, question, answers: golds, ...(judge ? { judge } : {}), ...defined({ context, taskType }) };
  });

/** An item with a judge that was read before has an empty list. */
function withoutEmptyAnswers(item: unknown): unknown {
  const { judge, answers, ...rest } = (item ?? {}) as { judge?: unknown; answers?: unknown };
  return judge && Array.isArray(answers) && answers.length === 0 ? { ...rest, judge } : item;
}

/**
 * A question with its gold answers, or with a judge, which decides where there is one. Also read: one gold without a list or
 * as `answer`, the task type as `task_type`, and a number as id. Other fields are dropped, so that they cannot change the key
 * under which the task is cached.
 */
export const QaItem = z.preprocess(withoutEmptyAnswers, QaFields);
export type QaItem = z.output<typeof QaFields>;
export type QaItemInput = Omit<z.input<typeof QaFields>, 'answers' | 'judge'> & {
  readonly judge?: TaskJudgeInput | null | undefined;
  readonly answers?: string | number | readonly (string | number)[] | null | undefined;
};

/** What to say to someone whose task is not one. */
export const QA_ITEM_HINT =
  'A task is {"id": "q1", "question": "…", "answers": ["…"]}, and may have "context", "taskType" and "split"; in place of answers it may have a "judge".';
