import { oneLine, plural, shellWord } from '../../core/text/index.ts';
import { nextLines, wrap } from '../../report/index.ts';
import type { Terminal } from '../terminal/terminal.ts';

export type DraftAnswer = {
  readonly file: string;
  /** Of this command. */
  readonly drafted: number;
  /** In the file now. */
  readonly tasks: number;
  readonly wanted: number;
  readonly kinds: Readonly<Record<string, number>>;
  readonly dropped: Readonly<Record<'repeated' | 'contradicted' | 'doubtful' | 'not usable', number>>;
  readonly doubtful: number;
  readonly calls: number;
  readonly tokens: number;
  readonly costUsd: number | null;
  readonly costWords: string;
  readonly isProject: boolean;
};

const WORDS = {
  repeated: 'repeated',
  contradicted: 'contradicted by independent solutions',
  doubtful: 'not confirmed by them',
  'not usable': 'not usable',
} as const;

/** How many there are, how they are spread, what was dropped and why, what it cost, and what to type next. */
export function draftLines(answer: DraftAnswer, isDone: boolean, terminal: Terminal): string[] {
  const { colors, width, canAsk } = terminal;
  const { file, drafted, tasks, wanted, kinds, dropped, doubtful, calls } = answer;
  const spread = Object.entries(kinds).map(([kind, count]) => `${oneLine(kind) || 'no kind'} ${count}`);
  const why = Object.entries(dropped).flatMap(([reason, count]) =>
    count > 0 ? [`${count} ${WORDS[reason as keyof typeof WORDS]}`] : [],
  );
  const isShort = tasks < wanted;
  return [
    `${colors.bold(isShort ? `${tasks} of ${plural(wanted, 'task')}` : plural(tasks, 'task'))} in ${file}, ${drafted} drafted now, reviewed by nobody`,
    ...(spread.length > 0 ? wrap(`spread: ${spread.join(', ')}`, width, '  ') : []),
    ...(why.length > 0 ? wrap(`dropped: ${why.join(', ')}`, width, '  ') : []),
    ...(doubtful > 0
      ? wrap(`${plural(doubtful, 'task')} kept with a doubtful reference: look at those first`, width, '  ')
      : []),
    ...(isShort ? ['The same command drafts more.'] : []),
    `${plural(calls, 'call')}, ${answer.costWords}`,
    ...(isDone ? ['', ...nextLines(whatNext(answer, canAsk), terminal)] : []), // the error says what to do
  ];
}

function whatNext({ isProject, file }: DraftAnswer, canAsk: boolean): (readonly [string, string])[] {
  const review = [
    `npx skillopt tasks review${isProject ? '' : ` ${shellWord(file)}`}`,
    'keep, drop or edit them',
  ] as const;
  const train = isProject
    ? (['npx skillopt train', 'trains on them'] as const)
    : (['npx skillopt init', 'makes a project of them'] as const);
  return canAsk ? [review, train] : [train, review];
}
