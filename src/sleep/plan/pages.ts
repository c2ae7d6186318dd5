import type { SessionDigest } from '../../transcripts/index.ts';
import { heuristicTask } from '../mine/heuristic-miner.ts';
import { excerptOf } from '../mine/session-excerpt.ts';

export type MinerKind = 'model' | 'heuristic';

/** All text of one session that a night may send to a model: what is not on its page is not sent. */
export type Page = {
  readonly sessionId: string;
  readonly source: string;
  readonly project: string;
  /** Such as `2026-01-31`; empty when it is not known. */
  readonly day: string;
  readonly texts: readonly string[];
  /** Who each of them is of: the person, the agent, or us, who noted how the person took it. */
  readonly speakers: readonly Speaker[];
};

type Speaker = 'you' | 'agent' | 'marks';
type Said = readonly [by: Speaker, text: string];

/** A page for each session that gives something to send. */
export function pagesOf(digests: readonly SessionDigest[], miner: MinerKind): Page[] {
  return digests.map((digest) => pageOf(digest, miner)).filter(({ texts }) => texts.length > 0);
}

function pageOf(digest: SessionDigest, miner: MinerKind): Page {
  const { sessionId, source, project, startedAt, endedAt } = digest;
  const said = (miner === 'model' ? minedTexts(digest) : taskTexts(digest)).filter(([, text]) => text !== '');
  const day = (startedAt || endedAt).slice(0, 10);
  const [texts, speakers] = [said.map(([, text]) => text), said.map(([by]) => by)];
  return { sessionId, source, project, day, texts, speakers };
}

/** A miner model reads this; every task of the night is made from what it answers. */
function minedTexts(digest: SessionDigest): readonly Said[] {
  const { requests, answer, feedback } = excerptOf(digest);
  return [
    ...requests.map((text) => ['you', text] as const),
    ['agent', answer],
    ...feedback.map((text) => ['marks', text] as const),
  ];
}

/** Without one, the task is the request itself, and the models that attempt and judge it read that. */
function taskTexts(digest: SessionDigest): readonly Said[] {
  const task = heuristicTask(digest);
  return task
    ? [
        ['you', task.intent],
        ['you', task.reference],
      ]
    : [];
}
