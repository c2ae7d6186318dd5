import { defineTopic, type Topic } from '../topic.ts';

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const pad = (value: number) => String(value).padStart(2, '0');

/** Days start at 13: a date whose month and day could be swapped would not tell the styles apart. */
const dates = defineTopic<{ year: number; month: number; day: number }>({
  name: 'dates',
  mention: /\bdates?\b/i,
  make: (dice) => ({ year: 2015 + dice(10), month: 1 + dice(12), day: 13 + dice(16) }),
  ask: ({ year, month, day }, record) =>
    `Invoice ${record} was paid on ${MONTHS[month - 1]} ${day}, ${year}. On which date was it paid?`,
  pattern: /was paid on ([A-Z][a-z]+) (\d+), (\d{4})\. On which date/,
  parse: (month = '', day, year) => ({ year: Number(year), month: MONTHS.indexOf(month) + 1, day: Number(day) }),
  naive: ({ year, month, day }) => `${MONTHS[month - 1]} ${day}, ${year}`,
  variants: [
    {
      rule: 'Write dates as YYYY-MM-DD.',
      cue: /\bYYYY-MM-DD\b|\bISO[ -]8601\b/i,
      write: ({ year, month, day }) => `${year}-${pad(month)}-${pad(day)}`,
    },
    {
      rule: 'Write dates as DD.MM.YYYY.',
      cue: /\bDD[./-]MM[./-]YYYY\b/i,
      write: ({ year, month, day }) => `${pad(day)}.${pad(month)}.${year}`,
    },
    {
      rule: 'Write dates as MM/DD/YYYY.',
      cue: /\bMM[./-]DD[./-]YYYY\b/i,
      write: ({ year, month, day }) => `${pad(month)}/${pad(day)}/${year}`,
    },
    {
      rule: 'Write dates with the day before the month name, such as 14 March 2024.',
      cue: /\bday (?:before|first|then)\b|\bDD? Month YYYY\b/i,
      write: ({ year, month, day }) => `${day} ${MONTHS[month - 1]} ${year}`,
    },
  ],
});

const times = defineTopic<{ hour: number; minute: number }>({
  name: 'times',
  mention: /\btimes?\b|\bclock\b/i,
  make: (dice) => ({ hour: [0, 12][dice(2)]! + 1 + dice(11), minute: 1 + dice(59) }),
  ask: (value, record) =>
    `Courier ${record} arrived at ${onTwelveHourClock(value)}. At what time did the courier arrive?`,
  pattern: /arrived at (\d+):(\d\d) ([AP])M\. At what time/,
  parse: (hour, minute, half) => ({ hour: Number(hour) + (half === 'P' ? 12 : 0), minute: Number(minute) }),
  naive: onTwelveHourClock,
  variants: [
    {
      rule: 'Write times of day on the 24-hour clock as HH:MM.',
      cue: /\bHH:MM\b|\b24[ -]hour\b/i,
      write: ({ hour, minute }) => `${pad(hour)}:${pad(minute)}`,
    },
    {
      rule: 'Write times of day with an h between hours and minutes, such as 15h45.',
      cue: /\ban h between\b|\b\d\dh\d\d\b/i,
      write: ({ hour, minute }) => `${pad(hour)}h${pad(minute)}`,
    },
    {
      rule: 'Write times of day as four digits and the word hours, such as 1545 hours.',
      cue: /\bfour digits\b|\b\d{4} hours\b/i,
      write: ({ hour, minute }) => `${pad(hour)}${pad(minute)} hours`,
    },
  ],
});

function onTwelveHourClock({ hour, minute }: { hour: number; minute: number }): string {
  return `${hour > 12 ? hour - 12 : hour}:${pad(minute)} ${hour > 12 ? 'PM' : 'AM'}`;
}

/** Quarters of an hour, so that decimal hours are exact. */
const durations = defineTopic<{ hours: number; minutes: number }>({
  name: 'durations',
  mention: /\bdurations?\b|\bhow long\b/i,
  make: (dice) => ({ hours: 2 + dice(8), minutes: [15, 30, 45][dice(3)]! }),
  ask: ({ hours, minutes }, record) =>
    `Call ${record} lasted ${hours} hours and ${minutes} minutes. How long was the call?`,
  pattern: /lasted (\d+) hours and (\d+) minutes\. How long/,
  parse: (hours, minutes) => ({ hours: Number(hours), minutes: Number(minutes) }),
  naive: ({ hours, minutes }) => `${hours} hours and ${minutes} minutes`,
  variants: [
    {
      rule: 'Write durations in minutes alone, such as 135 minutes.',
      cue: /\b(?:minutes alone|only minutes|(?:whole|total) minutes)\b|\b\d{3} minutes\b/i,
      write: ({ hours, minutes }) => `${hours * 60 + minutes} minutes`,
    },
    {
      rule: 'Write durations as H:MM.',
      cue: /\bH:MM\b/i,
      write: ({ hours, minutes }) => `${hours}:${pad(minutes)}`,
    },
    {
      rule: 'Write durations in decimal hours, such as 2.25 hours.',
      cue: /\bdecimal hours\b|\b\d\.\d+ hours\b/i,
      write: ({ hours, minutes }) => `${hours + minutes / 60} hours`,
    },
    {
      rule: 'Write durations with short units, such as 2h 15m.',
      cue: /\bshort units\b|\b\d+h \d+m\b/i,
      write: ({ hours, minutes }) => `${hours}h ${minutes}m`,
    },
  ],
});

export const calendarTopics: readonly Topic[] = [dates, times, durations];
