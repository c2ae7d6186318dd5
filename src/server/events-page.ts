import { createReadStream } from 'node:fs';
import type { EventsPage } from '../core/page/index.ts';
import { isObject, parseJson } from '../core/text/index.ts';
import { JOURNAL_FILE } from '../stores/index.ts';
import type { Shown } from './read-run.ts';
import { pathWithin, readRange } from './run-files.ts';

type EventsQuery = {
  readonly from: number;
  readonly count: number;
  readonly type: string | undefined;
  readonly longest?: number;
};

/** One alone is shown whole. */
const LONGEST = 20_000;
const LONGEST_ALONE = 2_000_000;

/** Lines of the journal as they stand there. With a type, `from` counts the lines of that type. */
export async function eventsPage(
  path: string,
  { types }: Pick<Shown, 'types'>,
  query: EventsQuery,
): Promise<EventsPage> {
  const lines = types.flatMap((type, index) => (query.type === undefined || query.type === type ? [index] : []));
  const wanted = lines.slice(query.from, query.from + query.count);
  const journal = await pathWithin(path, JOURNAL_FILE);
  const ends = await endsOfLines(journal, (wanted.at(-1) ?? -1) + 1);
  const longest = query.longest ?? (query.count === 1 ? LONGEST_ALONE : LONGEST);
  const events: EventsPage['events'][number][] = [];
  for (const index of wanted) {
    const [from, to] = [index === 0 ? 0 : ends[index - 1]!, ends[index]];
    if (to === undefined) break; // the file was replaced by a shorter one
    const text = (await readRange(journal, from, to)).trimEnd();
    const event = parseJson(text);
    const at = isObject(event) && typeof event.at === 'string' ? event.at : '';
    events.push({ line: index + 1, type: types[index]!, at, text: cut(text, longest) });
  }
  return { total: lines.length, events };
}

const cut = (text: string, longest: number) =>
  text.length <= longest ? text : `${text.slice(0, longest)} … ${text.length - longest} more characters`;

/** Where the first lines of a file end, in bytes. Reading to the end of a long journal takes a tenth of a second. */
async function endsOfLines(path: string, count: number): Promise<number[]> {
  const ends: number[] = [];
  let size = 0;
  if (count === 0) return ends;
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 }) as AsyncIterable<Buffer>) {
    for (let end = chunk.indexOf(10); end !== -1 && ends.length < count; end = chunk.indexOf(10, end + 1))
      ends.push(size + end + 1);
    if (ends.length >= count) break;
    size += chunk.length;
  }
  return ends;
}
