import { defineTopic, type Topic } from './topic.ts';

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const pad = (value: number) => String(value).padStart(2, '0');

/** Days start at 13: a date whose month and day could be swapped would not tell the styles apart. */
const dates = defineTopic<{ year: number; month: number; day: number }>('dates', {
  mention: /\bdates?\b/i,
  make: (dice) => ({ year: 2015 + dice(10), month: 1 + dice(12), day: 13 + dice(16) }),
  ask: (fact, record) => `Invoice ${record} was paid on ${fact}. On which date was it paid?`,
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

const times = defineTopic<{ hour: number; minute: number }>('times', {
  mention: /\btimes?\b|\bclock\b/i,
  make: (dice) => ({ hour: [0, 12][dice(2)]! + 1 + dice(11), minute: 1 + dice(59) }),
  ask: (fact, record) => `Courier ${record} arrived at ${fact}. At what time did the courier arrive?`,
  pattern: /arrived at (\d+):(\d\d) ([AP])M\. At what time/,
  parse: (hour, minute, half) => ({ hour: Number(hour) + (half === 'P' ? 12 : 0), minute: Number(minute) }),
  naive: ({ hour, minute }) => `${hour > 12 ? hour - 12 : hour}:${pad(minute)} ${hour > 12 ? 'PM' : 'AM'}`,
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

/** Quarters of an hour, so that decimal hours are exact. */
const durations = defineTopic<{ hours: number; minutes: number }>('durations', {
  mention: /\bdurations?\b|\bhow long\b/i,
  make: (dice) => ({ hours: 2 + dice(8), minutes: [15, 30, 45][dice(3)]! }),
  ask: (fact, record) => `Call ${record} lasted ${fact}. How long was the call?`,
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
const money = defineTopic<{ dollars: number; cents: number }>('money', {
  mention: /\bmoney\b|\bamounts?\b|\bprices?\b/i,
  make: (dice) => ({ dollars: 1001 + dice(8000), cents: [25, 35, 65, 75, 85][dice(5)]! }),
  ask: (fact, record) => `Bill ${record} came to ${fact}. How much was the bill?`,
  pattern: /came to \$(\d),(\d{3})\.(\d\d)\. How much/,
  parse: (thousands, rest, cents) => ({ dollars: Number(`${thousands}${rest}`), cents: Number(cents) }),
  naive: ({ dollars, cents }) => `$${Math.floor(dollars / 1000)},${String(dollars).slice(1)}.${cents}`,
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

const weights = defineTopic<{ grams: number }>('weights', {
  mention: /\bweights?\b/i,
  make: (dice) => ({ grams: 1050 + dice(180) * 50 }),
  ask: (fact, record) => `Parcel ${record} weighs ${fact}. How heavy is the parcel?`,
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

const temperatures = defineTopic<{ celsius: number }>('temperatures', {
  mention: /\btemperatures?\b/i,
  make: (dice) => ({ celsius: 2 + dice(38) }),
  ask: (fact, record) => `Cold room ${record} was at ${fact}. What was the temperature?`,
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

const percentages = defineTopic<{ tenths: number }>('percentages', {
  mention: /\bpercentages?\b|\brates\b/i,
  make: (dice) => ({ tenths: 101 + dice(800) }),
  ask: (fact, record) => `Product ${record} had a return rate of ${fact}. What was the return rate?`,
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

/** Neither list has a name in A: graders drop the initial `A` as an article. */
const [FIRST_NAMES, LAST_NAMES] = [
  'Maria Ben Clara David Elena Felix Greta Hugo Ines Jonas Karin Leon Nina Oscar Petra Rosa',
  'Lopez Brandt Cohen Dahl Eriksen Fischer Gupta Haas Ito Jensen Kovac Lind Moreau Novak Okafor',
].map((names) => names.split(' ')) as [string[], string[]];

const people = defineTopic<{ first: string; last: string }>('people', {
  mention: /\bpersons?\b|\bpeople\b|\bpersonal\b/i,
  make: (dice) => ({ first: FIRST_NAMES[dice(FIRST_NAMES.length)]!, last: LAST_NAMES[dice(LAST_NAMES.length)]! }),
  ask: (fact, record) => `Request ${record} was opened by ${fact}. Who opened the request?`,
  pattern: /was opened by ([A-Z][a-z]+) ([A-Z][a-z]+)\. Who opened/,
  parse: (first = '', last = '') => ({ first, last }),
  naive: ({ first, last }) => `${first} ${last}`,
  variants: {
    'Write names of people with the last name first, such as Lopez, Maria.': [
      /\blast name first\b|\bsurname first\b|\bLast, First\b/i,
      ({ first, last }) => `${last}, ${first}`,
    ],
    'Write names of people with the first name as an initial.': [
      /\bfirst names? as (?:an )?initials?\b|\binitial of the first name\b/i,
      ({ first, last }) => `${first[0]}. ${last}`,
    ],
    'Write names of people by last name only, such as Lopez.': [
      /\blast names? only\b|\bonly the last name\b|\bsurname only\b/i,
      ({ last }) => last,
    ],
  },
});

const COUNTRIES = `Germany DE DEU Deutschland, Italy IT ITA Italia, Sweden SE SWE Sverige, Poland PL POL Polska,
  Finland FI FIN Suomi, Norway NO NOR Norge, Denmark DK DNK Danmark, Netherlands NL NLD Nederland, Estonia EE EST Eesti,
  Croatia HR HRV Hrvatska, Japan JP JPN Nihon, Greece GR GRC Hellas`
  .split(/,\s+/)
  .map((row) => row.split(' ') as [name: string, two: string, three: string, local: string])
  .map(([name, two, three, local]) => ({ name, two, three, local }));

const countries = defineTopic<(typeof COUNTRIES)[number]>('countries', {
  mention: /\bcountr(?:y|ies)\b/i,
  make: (dice) => COUNTRIES[dice(COUNTRIES.length)]!,
  ask: (fact, record) => `Shipment ${record} goes to ${fact}. Which country does it go to?`,
  pattern: new RegExp(`goes to (${COUNTRIES.map(({ name }) => name).join('|')})\\. Which country`),
  parse: (name) => COUNTRIES.find((country) => country.name === name)!,
  naive: ({ name }) => name,
  variants: {
    'Write countries as two-letter codes, such as DE.': [/\btwo[ -]letter\b|\balpha-2\b/i, ({ two }) => two],
    'Write countries as three-letter codes, such as DEU.': [/\bthree[ -]letter\b|\balpha-3\b/i, ({ three }) => three],
    'Write countries by their local name, such as Deutschland.': [
      /\blocal (?:name|language)s?\b|\bnative names?\b/i,
      ({ local }) => local,
    ],
  },
});

const phones = defineTopic<{ area: string; exchange: string; line: string }>('phones', {
  mention: /\b(?:tele)?phones?\b/i,
  make: (dice) => ({ area: `${200 + dice(700)}`, exchange: '555', line: `${1000 + dice(9000)}` }),
  ask: (fact, record) => `Customer ${record} can be called at ${fact}. What is the phone number?`,
  pattern: /can be called at \((\d{3})\) (\d{3})-(\d{4})\. What is the phone/,
  parse: (area = '', exchange = '', line = '') => ({ area, exchange, line }),
  naive: ({ area, exchange, line }) => `(${area}) ${exchange}-${line}`,
  variants: {
    'Write phone numbers in E.164 form, such as +12125550123.': [
      /\bE\.?164\b|\+1\d{10}\b/i,
      ({ area, exchange, line }) => `+1${area}${exchange}${line}`,
    ],
    'Write phone numbers as digits only, such as 2125550123.': [
      /\bdigits only\b|\bonly digits\b|\bjust the digits\b|(?<![+\d])\d{10}\b/i,
      ({ area, exchange, line }) => `${area}${exchange}${line}`,
    ],
    'Write phone numbers in groups with spaces, such as 212 555 0123.': [
      /\bwith spaces\b|\bspaces between\b|\b\d{3} \d{3} \d{4}\b/i,
      ({ area, exchange, line }) => `${area} ${exchange} ${line}`,
    ],
  },
});

/** Not the letter A, which graders drop as an article. */
const orders = defineTopic<{ letter: string; number: string }>('orders', {
  mention: /\border (?:ids?|numbers?|references?)\b|\borders\b/i,
  make: (dice) => ({ letter: 'BCDEFGH'[dice(7)]!, number: `${1000 + dice(9000)}` }),
  ask: (fact, record) => `Ticket ${record} is about order ${fact}. Which order is it about?`,
  pattern: /is about order ([A-Z])-(\d{4})\. Which order/,
  parse: (letter = '', number = '') => ({ letter, number }),
  naive: ({ letter, number }) => `${letter}-${number}`,
  variants: {
    'Write order ids with the prefix ORD, such as ORD-B-1042.': [
      /\bORD\b/,
      ({ letter, number }) => `ORD-${letter}-${number}`,
    ],
    'Write order ids without their letter, such as 1042.': [
      /\bwithout (?:their|the|its) letter\b|\b(?:drop|leave out) (?:their|the|its) letter\b/i,
      ({ number }) => number,
    ],
    'Write order ids with the letter last, such as 1042-B.': [
      /\bletter (?:last|at the end)\b|\b\d{4}-[B-H]\b/i,
      ({ letter, number }) => `${number}-${letter}`,
    ],
    'Pad order ids to six digits, such as B-001042.': [
      /\bsix digits\b|\b[B-H]-00\d{4}\b/i,
      ({ letter, number }) => `${letter}-00${number}`,
    ],
  },
});

const consent = defineTopic<{ agreed: boolean }>('consent', {
  mention: /\byes\b.{1,8}\bno\b|\bconsent\b/i,
  make: (dice) => ({ agreed: dice(2) === 1 }),
  ask: (fact, record) =>
    `Customer ${record} has ${fact === 'No' ? 'not ' : ''}signed up for the newsletter. Did the customer sign up?`,
  pattern: /has (not )?signed up for the newsletter\. Did the customer/,
  parse: (not) => ({ agreed: not === undefined }),
  naive: ({ agreed }) => (agreed ? 'Yes' : 'No'),
  variants: {
    'Answer yes-or-no questions with Y or N.': [/\bY (?:or|and) N\b|\bY\/N\b/, ({ agreed }) => (agreed ? 'Y' : 'N')],
    'Answer yes-or-no questions with true or false.': [
      /\btrue (?:or|and) false\b|\btrue\/false\b/i,
      ({ agreed }) => String(agreed),
    ],
    'Answer yes-or-no questions with 1 or 0.': [/\b1 (?:or|and) 0\b|\b1\/0\b/, ({ agreed }) => (agreed ? '1' : '0')],
  },
});

export const TOPICS: readonly Topic[] = [
  ...[dates, times, durations, money, weights, temperatures, percentages],
  ...[phones, orders, consent, people, countries],
];
