/** When something was said: ISO 8601 with an offset or `Z`, or milliseconds. What cannot be read is not known. */
export type Moment = string | number | undefined;

const WITH_OFFSET = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)? ?(?:Z|[+-]\d\d:?\d\d)$/;
const WITHOUT_OFFSET = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?$/;

const END_OF_TIME_MS = Date.UTC(9999, 11, 31);

/** In UTC, so that times can be compared as texts. Empty: not known. */
export function toUtc(moment: Moment): string {
  const ms = typeof moment === 'string' ? msOf(moment.trim()) : moment;
  return ms !== undefined && ms > 0 && ms < END_OF_TIME_MS ? new Date(ms).toISOString() : '';
}

/** A time without an offset says nothing about where it was; what a computer's own zone makes of it would be a guess. */
function msOf(text: string): number | undefined {
  if (!WITH_OFFSET.test(text)) return undefined;
  return Date.parse(text.includes(' ') ? text.replace(' ', 'T').replace(' ', '') : text);
}

/** For a source whose times have no offset and are in UTC, such as those of SQLite. */
export function asUtc(text: string): string {
  return WITHOUT_OFFSET.test(text.trim()) ? `${text.trim().replace(' ', 'T')}Z` : text;
}
