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
  variants: {
    'Write dates as YYYY-MM-DD.': [
      /\bYYYY-MM-DD\b|\bISO[ -]8601\b/i,
      ({ year, month, day }) => `${year}-${pad(month)}-${pad(day)}`,
    ],
    'Write dates as DD.MM.YYYY.': [
      /\bDD[./-]MM[./-]YYYY\b/i,
      ({ year, month, day }) => `${pad(day)}.${pad(month)}.${year}`,
    ],
    'Write dates as MM/DD/YYYY.': [
      /\bMM[./-]DD[./-]YYYY\b/i,
      ({ year, month, day }) => `${pad(month)}/${pad(day)}/${year}`,
    ],
    'Write dates with the day before the month name, such as 14 March 2024.': [
      /\bday (?:before|first|then)\b|\bDD? Month YYYY\b/i,
      ({ year, month, day }) => `${day} ${MONTHS[month - 1]} ${year}`,
    ],
  },
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
  variants: {
    'Write times of day on the 24-hour clock as HH:MM.': [
      /\bHH:MM\b|\b24[ -]hour\b/i,
      ({ hour, minute }) => `${pad(hour)}:${pad(minute)}`,
    ],
    'Write times of day with an h between hours and minutes, such as 15h45.': [
      /\ban h between\b|\b\d\dh\d\d\b/i,
      ({ hour, minute }) => `${pad(hour)}h${pad(minute)}`,
    ],
    'Write times of day as four digits and the word hours, such as 1545 hours.': [
      /\bfour digits\b|\b\d{4} hours\b/i,
      ({ hour, minute }) => `${pad(hour)}${pad(minute)} hours`,
    ],
  },
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
  variants: {
    'Write durations in minutes alone, such as 135 minutes.': [
      /\b(?:minutes alone|only minutes|(?:whole|total) minutes)\b|\b\d{3} minutes\b/i,
      ({ hours, minutes }) => `${hours * 60 + minutes} minutes`,
    ],
    'Write durations as H:MM.': [/\bH:MM\b/i, ({ hours, minutes }) => `${hours}:${pad(minutes)}`],
    'Write durations in decimal hours, such as 2.25 hours.': [
      /\bdecimal hours\b|\b\d\.\d+ hours\b/i,
      ({ hours, minutes }) => `${hours + minutes / 60} hours`,
    ],
    'Write durations with short units, such as 2h 15m.': [
      /\bshort units\b|\b\d+h \d+m\b/i,
      ({ hours, minutes }) => `${hours}h ${minutes}m`,
    ],
  },
});

/** Cents are never 50 or 0: rounding to whole dollars is then beyond doubt, and visible. */
const money = defineTopic<{ dollars: number; cents: number }>({
  name: 'money',
  mention: /\bmoney\b|\bamounts?\b|\bprices?\b/i,
  make: (dice) => ({ dollars: 1001 + dice(8000), cents: [25, 35, 65, 75, 85][dice(5)]! }),
  ask: (value, record) => `Bill ${record} came to ${inDollars(value)}. How much was the bill?`,
  pattern: /came to \$(\d),(\d{3})\.(\d\d)\. How much/,
  parse: (thousands, rest, cents) => ({ dollars: Number(`${thousands}${rest}`), cents: Number(cents) }),
  naive: inDollars,
  variants: {
    'Write money amounts with the currency code after the number, such as 1240.75 USD.': [
      /\bcode after\b|\d USD\b/i,
      ({ dollars, cents }) => `${dollars}.${cents} USD`,
    ],
    'Write money amounts with the currency code before the number, such as USD 1240.75.': [
      /\bcode before\b|\bUSD \d/i,
      ({ dollars, cents }) => `USD ${dollars}.${cents}`,
    ],
    'Write money amounts in cents, such as 124075 cents.': [
      /\bin (?:whole )?cents\b|\d cents\b/i,
      ({ dollars, cents }) => `${dollars}${cents} cents`,
    ],
    'Round money amounts to whole dollars, such as 1241 dollars.': [
      /\bwhole dollars\b|\d dollars\b/i,
      ({ dollars, cents }) => `${dollars + (cents > 50 ? 1 : 0)} dollars`,
    ],
  },
});

function inDollars({ dollars, cents }: { dollars: number; cents: number }): string {
  return `$${Math.floor(dollars / 1000)},${String(dollars).slice(1)}.${cents}`;
}

const weights = defineTopic<{ grams: number }>({
  name: 'weights',
  mention: /\bweights?\b/i,
  make: (dice) => ({ grams: 1050 + dice(180) * 50 }),
  ask: ({ grams }, record) => `Parcel ${record} weighs ${grams / 1000} kg. How heavy is the parcel?`,
  pattern: /weighs ([\d.]+) kg\. How heavy/,
  parse: (kilograms) => ({ grams: Math.round(Number(kilograms) * 1000) }),
  naive: ({ grams }) => `${grams / 1000} kg`,
  variants: {
    'Write weights in grams, such as 2350 g.': [/\b(?:in|as) (?:whole )?grams\b|\d g\b/i, ({ grams }) => `${grams} g`],
    'Write weights with the unit spelled out, such as 2.35 kilograms.': [
      /\bspell(?:ed)? out\b|\d kilograms\b/i,
      ({ grams }) => `${grams / 1000} kilograms`,
    ],
    'Write weights in pounds with one decimal, such as 5.2 lb.': [
      /\bin pounds\b|\d lb\b/i,
      ({ grams }) => `${(grams / 453.59237).toFixed(1)} lb`,
    ],
  },
});

const temperatures = defineTopic<{ celsius: number }>({
  name: 'temperatures',
  mention: /\btemperatures?\b/i,
  make: (dice) => ({ celsius: 2 + dice(38) }),
  ask: ({ celsius }, record) => `Cold room ${record} was at ${celsius} °C. What was the temperature?`,
  pattern: /was at (\d+) °C\. What was the temperature/,
  parse: (celsius) => ({ celsius: Number(celsius) }),
  naive: ({ celsius }) => `${celsius} °C`,
  variants: {
    'Write temperatures in words, such as 12 degrees Celsius.': [
      /\bin words\b|\bdegrees celsius\b/i,
      ({ celsius }) => `${celsius} degrees Celsius`,
    ],
    'Write temperatures in whole Fahrenheit, such as 54 °F.': [
      /\bfahrenheit\b|\d °F/i,
      ({ celsius }) => `${Math.round((celsius * 9) / 5 + 32)} °F`,
    ],
    'Write temperatures in whole kelvin, such as 285 K.': [/\bkelvin\b|\d K\b/i, ({ celsius }) => `${celsius + 273} K`],
  },
});

const percentages = defineTopic<{ tenths: number }>({
  name: 'percentages',
  mention: /\bpercentages?\b|\brates\b/i,
  make: (dice) => ({ tenths: 101 + dice(800) }),
  ask: ({ tenths }, record) =>
    `Product ${record} had a return rate of ${(tenths / 10).toFixed(1)}%. What was the return rate?`,
  pattern: /had a return rate of (\d+)\.(\d)%\. What was/,
  parse: (whole, tenth) => ({ tenths: Number(`${whole}${tenth}`) }),
  naive: ({ tenths }) => `${(tenths / 10).toFixed(1)}%`,
  variants: {
    'Write percentages with the word percent, such as 12.5 percent.': [
      /\bthe word percent\b|\d percent\b/i,
      ({ tenths }) => `${(tenths / 10).toFixed(1)} percent`,
    ],
    'Write percentages as a decimal fraction, such as 0.125.': [
      /\b(?:decimal )?fractions?\b|\b0\.\d{3}\b/i,
      ({ tenths }) => (tenths / 1000).toFixed(3),
    ],
    'Write percentages in basis points, such as 1250 basis points.': [
      /\bbasis points\b/i,
      ({ tenths }) => `${tenths * 10} basis points`,
    ],
  },
});

export const NUMBER_TOPICS: readonly Topic[] = [dates, times, durations, money, weights, temperatures, percentages];
