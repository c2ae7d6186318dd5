import type { SessionDigest } from '../../transcripts/session-digest.ts';
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
};

/** A page for each session that gives something to send. */
export function pagesOf(digests: readonly SessionDigest[], miner: MinerKind): Page[] {
  return digests.map((digest) => pageOf(digest, miner)).filter(({ texts }) => texts.length > 0);
}

function pageOf(digest: SessionDigest, miner: MinerKind): Page {
  const { sessionId, source, project, startedAt, endedAt } = digest;
  const texts = miner === 'model' ? minedTexts(digest) : taskTexts(digest);
  const day = (startedAt || endedAt).slice(0, 10);
  return { sessionId, source, project, day, texts: texts.filter((text) => text !== '') };
}

/** A miner model reads this; every task of the night is made from what it answers. */
function minedTexts(digest: SessionDigest): readonly string[] {
  const { requests, answer, feedback } = excerptOf(digest);
  return [...requests, answer, ...feedback];
}

/** Without one, the task is the request itself, and the models that attempt and judge it read that. */
function taskTexts(digest: SessionDigest): readonly string[] {
  const task = heuristicTask(digest);
  return task ? [task.intent, task.contextExcerpt] : [];
}
