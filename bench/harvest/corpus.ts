import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const SESSIONS = 400;
const CORPUS_BYTES = 200e6;
const [LONG_BYTES, SHORT_BYTES] = [20_000, 800];

/** What a transcript is full of: code and logs, with quotes and line ends that JSON must escape. */
const LINE = 'src/cart/total.ts:42:  const "total" = items.reduce((sum, item) => sum + item.price, 0); // ok\n';
const filler = (bytes: number) => LINE.repeat(Math.ceil(bytes / LINE.length)).slice(0, bytes);

/** A home with the sessions of one agent: half of the records long, half short, a tenth of them a person's or an answer. */
export function writeCorpus(home: string): void {
  const perSession = Math.round(CORPUS_BYTES / SESSIONS / ((LONG_BYTES + SHORT_BYTES) / 2));
  for (let session = 0; session < SESSIONS; session++) {
    const folder = join(home, '.claude', 'projects', `-home-ana-project-${session % 20}`);
    mkdirSync(folder, { recursive: true });
    const records = Array.from({ length: perSession }, (_, index) => JSON.stringify(recordAt(session, index)));
    writeFileSync(join(folder, `session-${session}.jsonl`), `${records.join('\n')}\n`);
  }
}

function recordAt(session: number, index: number) {
  const bytes = (index + Math.floor(index / 20)) % 2 === 0 ? LONG_BYTES : SHORT_BYTES; // of every kind, as many
  const facts = {
    sessionId: `session-${session}`,
    cwd: `/home/ana/project-${session % 20}`,
    gitBranch: 'main',
    timestamp: new Date(Date.UTC(2026, 0, 1) + (session * 1_000 + index) * 1_000).toISOString(),
  };
  if (index % 20 === 0) {
    return { ...facts, type: 'user', message: { role: 'user', content: `Change total ${index}: ${filler(bytes)}` } };
  }
  if (index % 20 === 10) {
    const content = [{ type: 'text', text: `Changed total ${index}. ${filler(bytes)}` }];
    return { ...facts, type: 'assistant', message: { role: 'assistant', content } };
  }
  if (index % 3 === 0) return { ...facts, type: 'attachment', attachment: { type: 'file', content: filler(bytes) } };
  const content = [{ type: 'tool_result', tool_use_id: `t${index}`, content: filler(bytes), is_error: false }];
  return { ...facts, type: 'user', message: { role: 'user', content }, toolUseResult: { stdout: '' } };
}
