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
  variants: [
    {
      rule: 'Write names of people with the last name first, such as Lopez, Maria.',
      cue: /\blast name first\b|\bsurname first\b|\bLast, First\b/i,
      write: ({ first, last }) => `${last}, ${first}`,
    },
    {
      rule: 'Write names of people with the first name as an initial.',
      cue: /\bfirst names? as (?:an )?initials?\b|\binitial of the first name\b/i,
      write: ({ first, last }) => `${first[0]}. ${last}`,
    },
    {
      rule: 'Write names of people by last name only, such as Lopez.',
      cue: /\blast names? only\b|\bonly the last name\b|\bsurname only\b/i,
      write: ({ last }) => last,
    },
  ],
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
  variants: [
    {
      rule: 'Write countries as two-letter codes, such as DE.',
      cue: /\btwo[ -]letter\b|\balpha-2\b/i,
      write: ({ two }) => two,
    },
    {
      rule: 'Write countries as three-letter codes, such as DEU.',
      cue: /\bthree[ -]letter\b|\balpha-3\b/i,
      write: ({ three }) => three,
    },
    {
      rule: 'Write countries by their local name, such as Deutschland.',
      cue: /\blocal (?:name|language)s?\b|\bnative names?\b/i,
      write: ({ local }) => local,
    },
  ],
});

const phones = defineTopic<{ area: string; exchange: string; line: string }>({
  name: 'phones',
  mention: /\b(?:tele)?phones?\b/i,
  make: (dice) => ({ area: `${200 + dice(700)}`, exchange: '555', line: `${1000 + dice(9000)}` }),
  ask: (value, record) => `Customer ${record} can be called at ${inBrackets(value)}. What is the phone number?`,
  pattern: /can be called at \((\d{3})\) (\d{3})-(\d{4})\. What is the phone/,
  parse: (area = '', exchange = '', line = '') => ({ area, exchange, line }),
  naive: inBrackets,
  variants: [
    {
      rule: 'Write phone numbers in E.164 form, such as +12125550123.',
      cue: /\bE\.?164\b|\+1\d{10}\b/i,
      write: ({ area, exchange, line }) => `+1${area}${exchange}${line}`,
    },
    {
      rule: 'Write phone numbers as digits only, such as 2125550123.',
      cue: /\bdigits only\b|\bonly digits\b|\bjust the digits\b|(?<![+\d])\d{10}\b/i,
      write: ({ area, exchange, line }) => `${area}${exchange}${line}`,
    },
    {
      rule: 'Write phone numbers in groups with spaces, such as 212 555 0123.',
      cue: /\bwith spaces\b|\bspaces between\b|\b\d{3} \d{3} \d{4}\b/i,
      write: ({ area, exchange, line }) => `${area} ${exchange} ${line}`,
    },
  ],
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
  variants: [
    {
      rule: 'Write order ids with the prefix ORD, such as ORD-B-1042.',
      cue: /\bORD\b/,
      write: ({ letter, number }) => `ORD-${letter}-${number}`,
    },
    {
      rule: 'Write order ids without their letter, such as 1042.',
      cue: /\bwithout (?:their|the|its) letter\b|\b(?:drop|leave out) (?:their|the|its) letter\b/i,
      write: ({ number }) => number,
    },
    {
      rule: 'Write order ids with the letter last, such as 1042-B.',
      cue: /\bletter (?:last|at the end)\b|\b\d{4}-[B-H]\b/i,
      write: ({ letter, number }) => `${number}-${letter}`,
    },
    {
      rule: 'Pad order ids to six digits, such as B-001042.',
      cue: /\bsix digits\b|\b[B-H]-00\d{4}\b/i,
      write: ({ letter, number }) => `${letter}-00${number}`,
    },
  ],
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
  variants: [
    {
      rule: 'Answer yes-or-no questions with Y or N.',
      cue: /\bY (?:or|and) N\b|\bY\/N\b/,
      write: ({ agreed }) => (agreed ? 'Y' : 'N'),
    },
    {
      rule: 'Answer yes-or-no questions with true or false.',
      cue: /\btrue (?:or|and) false\b|\btrue\/false\b/i,
      write: ({ agreed }) => String(agreed),
    },
    {
      rule: 'Answer yes-or-no questions with 1 or 0.',
      cue: /\b1 (?:or|and) 0\b|\b1\/0\b/,
      write: ({ agreed }) => (agreed ? '1' : '0'),
    },
  ],
});

export const FACT_TOPICS: readonly Topic[] = [phones, orders, consent, people, countries];
