const SHAPES = {
  check: 'M3.5 8.5l3 3 6-7',
  cross: 'M4.2 4.2l7.6 7.6M11.8 4.2l-7.6 7.6',
  question: 'M5.4 6a2.6 2.6 0 1 1 3.7 2.3c-.8.4-1.1.9-1.1 1.6M8 12.6v.1',
  equal: 'M3.5 6h9M3.5 10h9',
  bang: 'M8 3.2v6M8 12.6v.1',
  play: 'M5.5 3.8l6.5 4.2-6.5 4.2z',
  stop: 'M4.5 4.5h7v7h-7z',
  dot: 'M8 7.9v.2',
  dash: 'M4 8h8',
  waves: 'M2.5 6.2c1.8-2 3.6-2 5.5 0s3.7 2 5.5 0M2.5 10.8c1.8-2 3.6-2 5.5 0s3.7 2 5.5 0',
  up: 'M8 12.8V3.4M4.2 7.2L8 3.4l3.8 3.8',
  down: 'M8 3.2v9.4M4.2 8.8L8 12.6l3.8-3.8',
} as const;

export type IconName = keyof typeof SHAPES;

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={SHAPES[name]} />
  </svg>
);

type Tone = 'good' | 'bad' | 'doubt' | 'quiet' | 'live';
type Meaning = { readonly icon: IconName; readonly tone: Tone; readonly word: string };

/** Verdicts and fates: icon, word and colour, so that none of them is needed to tell them apart. */
const MEANINGS = {
  better: { icon: 'check', tone: 'good', word: 'better' },
  worse: { icon: 'cross', tone: 'bad', word: 'worse' },
  'not-proven': { icon: 'question', tone: 'doubt', word: 'not proven' },
  'no-change': { icon: 'equal', tone: 'quiet', word: 'no change' },
  broken: { icon: 'bang', tone: 'bad', word: 'broken' },
  stopped: { icon: 'stop', tone: 'quiet', word: 'not finished' },
  running: { icon: 'play', tone: 'live', word: 'running' },
  accepted: { icon: 'check', tone: 'good', word: 'accepted' },
  rejected: { icon: 'cross', tone: 'bad', word: 'rejected' },
  undecided: { icon: 'question', tone: 'doubt', word: 'undecided' },
  invalid: { icon: 'bang', tone: 'bad', word: 'invalid' },
  pending: { icon: 'play', tone: 'live', word: 'being measured' },
  skipped: { icon: 'dash', tone: 'quiet', word: 'skipped' },
  removed: { icon: 'dash', tone: 'quiet', word: 'removed later' },
  start: { icon: 'dot', tone: 'quiet', word: 'start' },
  passed: { icon: 'check', tone: 'good', word: 'passed' },
  partly: { icon: 'dash', tone: 'doubt', word: 'partly right' },
  inexact: { icon: 'dash', tone: 'doubt', word: 'not exact' },
  failed: { icon: 'cross', tone: 'bad', word: 'failed' },
  errored: { icon: 'bang', tone: 'quiet', word: 'no result' },
  luck: { icon: 'waves', tone: 'doubt', word: 'may be luck' },
  gained: { icon: 'up', tone: 'good', word: 'passes now' },
  lost: { icon: 'down', tone: 'bad', word: 'fails now' },
  proven: { icon: 'check', tone: 'good', word: 'proven' },
  plausible: { icon: 'question', tone: 'doubt', word: 'plausible' },
  unsupported: { icon: 'dash', tone: 'quiet', word: 'unsupported' },
  within: { icon: 'check', tone: 'good', word: 'within its limit' },
  nearly: { icon: 'bang', tone: 'doubt', word: 'nearly used up' },
  used: { icon: 'stop', tone: 'bad', word: 'used up' },
  unreadable: { icon: 'bang', tone: 'bad', word: 'cannot be read' },
} as const satisfies Record<string, Meaning>;

export type MarkKind = keyof typeof MEANINGS;

export const meaningOf = (kind: MarkKind): Meaning => MEANINGS[kind];

type MarkProps = { readonly kind: MarkKind; readonly word?: string };

export function Mark({ kind, word }: MarkProps) {
  const { icon, tone, word: usual } = MEANINGS[kind];
  return (
    <span className={`mark ${tone}`}>
      <Icon name={icon} />
      {word ?? usual}
    </span>
  );
}
