/** When something was said: ISO 8601 with an offset or `Z`, or milliseconds. What cannot be read is not known. */
export type Moment = string | number | undefined;

const WITH_OFFSET = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)? ?(?:Z|[+-]\d\d:?\d\d)$/;
const WITHOUT_OFFSET = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?$/;

/** As agents write it. */
const IN_UTC = /^20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

const END_OF_TIME_MS = Date.UTC(9999, 11, 31);

/** In UTC, so that times can be compared as texts. Empty: not known. */
export function toUtc(moment: Moment): string {
  if (typeof moment === 'string' && IN_UTC.test(moment)) return moment;
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
