import { defineTopic, type Topic } from '../topic.ts';

/** Neither list has a name in A: graders drop the initial `A` as an article. */
const FIRST_NAMES = 'Maria Ben Clara David Elena Felix Greta Hugo Ines Jonas Karin Leon Nina Oscar Petra Rosa'.split(
  ' ',
);
const LAST_NAMES = 'Lopez Brandt Cohen Dahl Eriksen Fischer Gupta Haas Ito Jensen Kovac Lind Moreau Novak Okafor'.split(
  ' ',
);

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

type Country = { readonly name: string; readonly two: string; readonly three: string; readonly local: string };

const COUNTRIES: readonly Country[] = [
  { name: 'Germany', two: 'DE', three: 'DEU', local: 'Deutschland' },
  { name: 'Italy', two: 'IT', three: 'ITA', local: 'Italia' },
  { name: 'Sweden', two: 'SE', three: 'SWE', local: 'Sverige' },
  { name: 'Poland', two: 'PL', three: 'POL', local: 'Polska' },
  { name: 'Finland', two: 'FI', three: 'FIN', local: 'Suomi' },
  { name: 'Norway', two: 'NO', three: 'NOR', local: 'Norge' },
  { name: 'Denmark', two: 'DK', three: 'DNK', local: 'Danmark' },
  { name: 'Netherlands', two: 'NL', three: 'NLD', local: 'Nederland' },
  { name: 'Estonia', two: 'EE', three: 'EST', local: 'Eesti' },
  { name: 'Croatia', two: 'HR', three: 'HRV', local: 'Hrvatska' },
  { name: 'Japan', two: 'JP', three: 'JPN', local: 'Nihon' },
  { name: 'Greece', two: 'GR', three: 'GRC', local: 'Hellas' },
];

const countries = defineTopic<Country>({
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

export const placeAndPeopleTopics: readonly Topic[] = [people, countries];
