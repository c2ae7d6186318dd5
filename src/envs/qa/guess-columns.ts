import { basename } from 'node:path';
import type { Row } from '../read/row.ts';
import { type Columns, isRecord, nameColumns } from './qa-columns.ts';

/** Names that are not usual enough to be taken without a word, the likelier first. */
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

/** Which columns could be questions and answers, where they have none of the usual names. Empty: nobody can tell. */
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
  if (first === undefined || !isRecord(first.value)) return [];
  return Object.keys(first.value).filter((name) => {
    const values = valuesOf(rows, name);
    return !/^(id|index|no|nr|#)?$/i.test(name) && values.length > rows.length / 2 && new Set(values).size > 1;
  });
}

const valuesOf = (rows: readonly Row[], name: string): string[] =>
  rows.flatMap(({ value }) => {
    const cell = isRecord(value) ? value[name] : undefined;
    return (typeof cell === 'string' && cell.trim() !== '') || typeof cell === 'number' ? [String(cell)] : [];
  });

const lengthOf = (rows: readonly Row[], name: string) => valuesOf(rows, name).join('').length;

const plain = (name: string) => name.toLowerCase().replace(/[\s_-]/g, '');

const findNamed = (names: readonly string[], wanted: readonly string[]) =>
  wanted.flatMap((word) => names.filter((name) => plain(name) === word))[0];
