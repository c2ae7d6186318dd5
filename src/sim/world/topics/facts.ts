import { defineTopic, type Topic } from '../topic.ts';

/** Neither list has a name in A: graders drop the initial `A` as an article. */
const [FIRST_NAMES, LAST_NAMES] = [
  'Maria Ben Clara David Elena Felix Greta Hugo Ines Jonas Karin Leon Nina Oscar Petra Rosa',
  'Lopez Brandt Cohen Dahl Eriksen Fischer Gupta Haas Ito Jensen Kovac Lind Moreau Novak Okafor',
].map((names) => names.split(' ')) as [string[], string[]];

const people = defineTopic<{ first: string; last: string }>({
  name: 'people',
  mention: /\bpersons?\b|\bpeople\b|\bpersonal\b/i,
  make: (dice) => ({ first: FIRST_NAMES[dice(FIRST_NAMES.length)]!, last: LAST_NAMES[dice(LAST_NAMES.length)]! }),
  ask: ({ first, last }, record) => `Request ${record} was opened by ${first} ${last}. Who opened the request?`,
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

const countries = defineTopic<(typeof COUNTRIES)[number]>({
  name: 'countries',
  mention: /\bcountr(?:y|ies)\b/i,
  make: (dice) => COUNTRIES[dice(COUNTRIES.length)]!,
  ask: ({ name }, record) => `Shipment ${record} goes to ${name}. Which country does it go to?`,
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

const phones = defineTopic<{ area: string; exchange: string; line: string }>({
  name: 'phones',
  mention: /\b(?:tele)?phones?\b/i,
  make: (dice) => ({ area: `${200 + dice(700)}`, exchange: '555', line: `${1000 + dice(9000)}` }),
  ask: (value, record) => `Customer ${record} can be called at ${inBrackets(value)}. What is the phone number?`,
  pattern: /can be called at \((\d{3})\) (\d{3})-(\d{4})\. What is the phone/,
  parse: (area = '', exchange = '', line = '') => ({ area, exchange, line }),
  naive: inBrackets,
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

function inBrackets({ area, exchange, line }: { area: string; exchange: string; line: string }): string {
  return `(${area}) ${exchange}-${line}`;
}

/** Not the letter A, which graders drop as an article. */
const orders = defineTopic<{ letter: string; number: string }>({
  name: 'orders',
  mention: /\border (?:ids?|numbers?|references?)\b|\borders\b/i,
  make: (dice) => ({ letter: 'BCDEFGH'[dice(7)]!, number: `${1000 + dice(9000)}` }),
  ask: ({ letter, number }, record) => `Ticket ${record} is about order ${letter}-${number}. Which order is it about?`,
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

const consent = defineTopic<{ agreed: boolean }>({
  name: 'consent',
  mention: /\byes\b.{1,8}\bno\b|\bconsent\b/i,
  make: (dice) => ({ agreed: dice(2) === 1 }),
  ask: ({ agreed }, record) =>
    `Customer ${record} has ${agreed ? '' : 'not '}signed up for the newsletter. Did the customer sign up?`,
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

export const FACT_TOPICS: readonly Topic[] = [phones, orders, consent, people, countries];
