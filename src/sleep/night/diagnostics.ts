import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { redactValue } from '../../core/guard/index.ts';
import type { RunObserver } from '../../core/run/index.ts';
import { head } from '../../core/text/index.ts';
import { createPrivate } from '../../stores/index.ts';
import type { ConsolidationResult } from './consolidation-result.ts';
import type { NightRecord } from './night-record.ts';

const RAW_LENGTH = 1_200;

/** Enough to tell a night without a failure from one whose models said nothing: both score 0. */
export function diagnosticsOf(record: NightRecord, result: ConsolidationResult | undefined, error?: unknown) {
  const { night, modelKey, tasks } = record;
  const of = (split: string) => tasks.filter((task) => task.split === split).length;
  return {
    ...{ night, modelKey, nTrain: of('train'), nVal: of('val'), nTest: of('test') },
    callError: error === undefined ? '' : (error as Error).message,
    ...(result && {
      accepted: result.accepted,
      gateAction: result.gateAction,
      holdoutLeaked: result.holdoutLeaked,
      baselineScore: result.baselineScore,
      candidateScore: result.candidateScore,
      nAppliedEdits: result.appliedEdits.length,
      nRejectedEdits: result.rejectedEdits.length,
      nUnmatchedEdits: result.unmatchedEdits.length,
      reflectRawHead: head(result.reflectRaw, RAW_LENGTH),
      holdoutDetail: result.holdoutDetail,
      gateTrials: result.gateTrials,
      optimizerReplies: result.documents.map(({ trained, named, summary }) => ({
        trained,
        named,
        ...summary.optimizerReplies,
      })),
      warnings: result.documents.flatMap(({ summary }) => summary.warnings),
    }),
  };
}

const EVIDENCE_FILE = 'evidence.jsonl';
const MOST_CHARACTERS = 4_000;

/** One line per thing that happened, redacted and bounded, for whoever wants to know why. */
export async function evidenceLog(folder: string, redact: (text: string) => string) {
  const path = join(folder, EVIDENCE_FILE);
  await createPrivate(path);
  let [waiting, seq, written] = ['', 0, Promise.resolve()];
  const flush = async () => {
    const lines = waiting;
    waiting = '';
    if (lines !== '') await appendFile(path, lines).catch(() => undefined); // it is not worth a night
  };
  const write = (stage: string, event: string, payload: object) => {
    const line = {
      at: new Date().toISOString(),
      seq: seq++,
      stage,
      event,
      ...(shortened(redactValue(payload), redact) as object),
    };
    waiting += `${JSON.stringify(line)}\n`;
    written = written.then(flush);
  };
  const observer: RunObserver = {
    onEvent: (event) => write('run', event.type, event),
    onWarning: (warning) => write('run', 'warning', { warning }),
  };
  return { write, observer, [Symbol.asyncDispose]: () => written };
}

function shortened(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return shortText(redact(value));
  if (Array.isArray(value)) return value.map((item) => shortened(item, redact));
  if (typeof value !== 'object' || value === null)
    return typeof value === 'number' && !Number.isFinite(value) ? null : value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortened(item, redact)]));
}

const shortText = (text: string) =>
  text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)} … (${text.length - MOST_CHARACTERS} more)`;
